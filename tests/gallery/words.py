# SPDX-License-Identifier: GPL-2.0
"""Counts the words of a file, and makes and reads JSON of them."""

import json
import re
import sys

with open(sys.argv[1], encoding="ascii") as text:
    words = re.findall(r"[a-z]+", text.read())
count = {}
for word in words:
    count[word] = count.get(word, 0) + 1
best = sorted(count.items(), key=lambda item: (-item[1], item[0]))
for _ in range(20):
    best = json.loads(json.dumps(best))
print(best[0])
