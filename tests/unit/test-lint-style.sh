#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The check of comments and subjects: it finds each kind of comment, and nothing
# that is no comment.
. "$source/tests/lib/tap.sh"

style=$source/tests/lint/style
in_tmp

# Findings may have any order.
finds() { # TITLE OUTPUT FILE
	status_is 1 "$1" "$style" "$3"
	is "$(sort -t: -k2n stdout)" "$2" "is found"
}

passes() { # TITLE FILE
	status_is 0 "$1" "$style" "$2"
	is "$(cat stdout)" "" "is not found"
}

cat >a.c <<'END'
/* What is good. */
int a; /* Of the first */
// Whose turn it is.
/*
 * The first sentence is good. Those are not.
 *
 * that is a paragraph
 */
/* Who asks? It is a question. */
/* Whatever, offers and those within a sentence are good, what is more. */
/* The end. what follows has no capital. */
char *s = "/* What is a text */", c = '"'; /* Of a text. */
END
finds "C" "a.c:1: What is good.
a.c:2: Of the first
a.c:3: Whose turn it is.
a.c:5: Those are not.
a.c:7: that is a paragraph
a.c:12: Of a text." a.c
cat >good.c <<'END'
/* The CPU does. */
int what; /* what? */
int size; /* of this structure */
/* of(1) */
int of;
END
passes "C without such a comment" good.c

# @ stands for #, or these lines would be comments of this file.
tr @ '#' >b.sh <<'END'
@!/bin/sh
@ What it does.
@ It does it.
@
@ Those who ask
echo "@ That is a text" @ That is a comment
echo ${x@That is none}
END
finds "shell" "b.sh:2: What it does.
b.sh:5: Those who ask
b.sh:6: That is a comment" b.sh
cp b.sh script
finds "shell by its first line" "script:2: What it does.
script:5: Those who ask
script:6: That is a comment" script
printf 'a:\n\techo # What\n# Of make.\n' >c.mk
finds "make" "c.mk:2: What
c.mk:3: Of make." c.mk
printf '.SH NAME\n.\\" Of roff.\nWhat is text.\n' >d.1
finds "a manual page" 'd.1:2: Of roff.' d.1
printf '# What is text\n' >e.txt
passes "text" e.txt

cat >f.patch <<'END'
From: somebody
Subject: [PATCH] x

What it is for.
---
--- a/x.c
+++ b/x.c
@@ -1,4 +1,6 @@
  * Of the old side.
  */
-/* What was. */
+/* What is. */
+int x; /* That too. */
 /* Who was there. */
 int y;
--- a/x.txt
+++ b/x.txt
@@ -1 +1,2 @@
 one
+# What is text
END
finds "added lines of a patch" "f.patch:12: What is.
f.patch:13: That too." f.patch

printf '%s\n' "1 module: what is used up" "2 Of a kind" "3 gate: who goes first?" \
	"4 gate: offer that" "5 module, tests: those are" >subjects
"$style" --subjects <subjects >stdout
is "$? $(cat stdout)" "1 1: module: what is used up
2: Of a kind
5: module, tests: those are" "subjects of commits"
echo "1 gate: stop a task" | "$style" --subjects >stdout
is "$? $(cat stdout)" "0 " "a good subject"

done_testing
