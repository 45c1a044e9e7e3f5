#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dedup restores what it compressed and rejects what it did not write. Each
# test runs on the plain build and on those with the sanitizers.
. "$source/tests/lib/tap.sh"

tap_shown=stderr
export TENSE=0
export ASAN_OPTIONS=detect_leaks=1 TSAN_OPTIONS=halt_on_error=1

plain=$out/workloads/dedup
in_tmp

round_trip() {	# NAME FILE [OPTION]...
	local name=$1 file=$2
	shift 2
	"$dedup" -c "$@" "$file" archive 2>stderr &&
		"$dedup" -d archive back 2>>stderr && cmp "$file" back 2>>stderr
	passed $? "$build: round trip: $name"
}

# Fails with this status and message, and leaves no output behind.
fails() {	# NAME STATUS PATTERN ARGUMENT...
	local name=$1 status=$2 pattern=$3
	shift 3
	rm -f back
	"$dedup" "$@" >/dev/null 2>stderr
	[ $? -eq "$status" ] && grep -q -- "$pattern" stderr && [ ! -e back ] &&
		[ "$(wc -l <stderr)" -le 2 ]
	passed $? "$build: $name"
}

# An archive as \xHH\xHH...: writing one with a byte changed starts no program.
escaped() {	# FILE
	od -An -v -tx1 "$1" | sed 's/ /\\x/g' | tr -d '\n'
}

flip() {	# OFFSET BITS: $small with one byte changed, to ./bad
	local byte

	printf -v byte '\\x%02x' $((0x${small:4 * $1 + 2:2} ^ $2))
	printf %b "${small:0:4 * $1}$byte${small:4 * $1 + 4}" >bad
}

# Bytes without a pattern, the same in each run.
random() {	# BYTES SEED
	seq "${2}000000" "$((${2}000000 + $1))" | gzip -1n | head -c "$1"
}

: >empty
printf x >byte
random 3000000 1 >noise
head -c 5000000 /dev/zero >zeros
{
	random 700000 2
	cat noise noise
	random 99 3
	cat noise
} >repetitive
seq 1 300000 >text
cat noise text repetitive text zeros text >large
for i in 1 2 3; do cat large; done >larger
# Content that comes twice at once: threads race for who sees it first.
for i in {10..69}; do
	random 350000 "$i" >part
	cat part part
done >pairs

for build in plain asan tsan; do
	dedup=$plain
	[ $build = plain ] || dedup=$out/tests/unit/dedup-$build

	round_trip empty empty
	round_trip "one byte" byte
	round_trip noise noise
	round_trip zeros zeros
	round_trip repetitive repetitive
	round_trip text text
	for size in 63 64 16383 16384 16385 262143 262144 262145 524287 \
		    524288 524289; do
		head -c $size noise >part
		round_trip "$size bytes" part -t 1
	done
	round_trip "large, 1 thread" large -l 1 -t 1
	cp archive archive-1
	round_trip "large, 4 threads" large -l 1 -t 4
	cmp archive archive-1 2>stderr
	passed $? "$build: 4 threads write the same archive as 1"
	round_trip "large, 32 threads" large -l 1 -t 32
	cmp archive archive-1 2>stderr
	passed $? "$build: 32 threads write the same archive as 1"
	round_trip "large, extra work" large -l 1 -t 2 --extra-work 250
	cmp archive archive-1 2>stderr
	passed $? "$build: extra work changes nothing in the archive"
	lost=
	for i in 4 16; do
		"$dedup" -c -l 1 -t $i pairs archive 2>stderr &&
			"$dedup" -d archive back 2>>stderr &&
			cmp pairs back 2>>stderr || lost="$lost $i"
	done
	[ -z "$lost" ]
	passed $? "$build: round trip: pairs, 4 and 16 threads:$lost"
	"$dedup" -c <(cat text) archive 2>stderr &&
		"$dedup" -d archive back 2>>stderr && cmp text back 2>>stderr
	passed $? "$build: round trip: input is a pipe"
done

dedup=$plain build=plain
round_trip "larger, 8 threads" larger -l 1 -t 8

"$dedup" -c --stats repetitive archive >stats 2>stderr &&
	awk '{ v[$1] = $2 } END {
		exit !(v["bytes"] == 9700099 && v["unique"] < 0.5 * v["chunks"] &&
		       v["archive_bytes"] < 4850000 && v["elapsed_ns"] > 0 &&
		       v["cpu_compress_ns"] > 0) }' stats
passed $? "plain: chunks that repeat are stored once"

# Its chunks: data, the same again, other data, the first again.
head -c 262144 zeros >zero
tr '\0' x <zero >other
cat zero zero zero zero other zero >part
"$plain" -c part small
size=$(stat -c %s small)
small=$(escaped small)
# Where the packed bytes lie.
data=$((16 + 41)) packed=$(od -An -tu4 -j 21 -N 4 small)
data_2=$((data + packed + 3 * 9 + 41))
packed_2=$(od -An -tu4 -j $((data_2 - 36)) -N 4 small)

# The sanitized build takes long to start.
for build in plain asan; do
	dedup=$plain step=1
	[ $build = plain ] || dedup=$out/tests/unit/dedup-$build step=7

	accepted=''
	for ((i = 0; i < size; i += step)); do
		flip $i 1
		rm -f back
		"$dedup" -d bad back >/dev/null 2>stderr
		status=$?
		[ $status -eq 1 ] && [ ! -e back ] && continue
		# Padding inside a zlib stream may change and mean nothing.
		[ $status -eq 0 ] && cmp -s part back &&
			((i >= data && i < data + packed ||
			  i >= data_2 && i < data_2 + packed_2)) && continue
		accepted="$accepted $i"
	done
	[ -z "$accepted" ]
	passed $? "$build: an archive with a changed byte is rejected:$accepted"

	accepted=''
	for ((i = 0; i < size; i += step)); do
		printf %b "${small:0:4 * i}" >bad
		rm -f back
		"$dedup" -d bad back >/dev/null 2>stderr
		[ $? -eq 1 ] && [ ! -e back ] || accepted="$accepted $i"
	done
	[ -z "$accepted" ]
	passed $? "$build: a truncated archive is rejected:$accepted"

	{ cat small; printf x; } >bad
	fails "bytes after the end" 1 "something follows its end" -d bad back
	flip 8 2
	fails "another version" 1 "version 3 of the format" -d bad back
	fails "an empty archive" 1 "is not an archive" -d empty back
	fails "not an archive" 1 "is not an archive" -d text back
	printf %b "$small" | cmp - small 2>stderr && flip 20 255 &&
		[ "$(cmp -l small bad | wc -l)" -eq 1 ]
	passed $? "$build: a changed archive differs in one byte"
	# The second chunk is a reference; its index follows the tag.
	flip $((data + packed + 1)) 2
	fails "a reference to nowhere" 1 "refers to one that is not there" \
		-d bad back
	fails "archive in a pipe" 1 "not a regular file" -d <(cat small) back
done

dedup=$plain build=plain
fails "no such input" 1 "No such file" -c missing back
fails "input is a directory" 1 "Is a directory" -c . back
fails "output cannot be created" 1 "No such file" -c text no/such/back
fails "full disk, compress" 1 "No space left" -c text /dev/full
fails "full disk, restore" 1 "No space left" -d small /dev/full
cp text same
fails "input is output" 1 "both input and output" -c same same
cmp -s text same
passed $? "plain: the file that was input and output is whole"
fails "no mode" 2 "is needed" text back
fails "two modes" 2 "only one" -c -d text back
fails "no threads" 2 "from 1 to 256" -c -t 0 text back
fails "threads is no number" 2 "not 'x'" -c -t x text back
fails "level out of range" 2 "from 1 to 9" -c -l 10 text back
fails "percent out of range" 2 "from 1 to" -c --compress-percent 0 text back
fails "one name" 2 "missing" -c text
fails "three names" 2 "too many" -c text back more
fails "unknown option" 2 "Try" -c --no-such text back

done_testing
