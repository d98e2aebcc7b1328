#!/usr/bin/env python3
"""Pages and help use the words of the glossary of docs/concepts.md in their sense: what stands there under "not" is in none of
them, and each word of the glossary is in some page. Usage: words_test.py MMAFUZZ SOURCE_FOLDER"""
import pathlib
import re
import subprocess
import sys
import tempfile

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
concepts = (source / "docs/concepts.md").read_text()
before, glossary = concepts.split("\n## Glossary\n")
entries = re.findall(r"^\| ([a-z ]+) \| .+ \|(.*)\|$", glossary, re.M)[1:]
words = [word for word, _ in entries]
never = [phrase for _, phrases in entries for phrase in phrases.strip().split(", ") if phrase]

texts = {str(page.relative_to(source)): page.read_text() for page in [source / "README.md", *(source / "docs").rglob("*.md")]}
texts["docs/concepts.md"] = before
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([program, "help-pages", folder], check=True)
    texts |= {page.name: page.read_text() for page in pathlib.Path(folder).glob("man1/*")}
texts["list targets"], texts["list properties"] = (
    subprocess.run([program, "list", what], check=True, capture_output=True, text=True).stdout for what in ("targets", "properties"))
flat = {name: " ".join(re.sub(r"[*`]", "", text).split()).lower() for name, text in texts.items()}

wrong = [f"{name}: '{phrase}'" for name, text in flat.items() for phrase in never if re.search(rf"\b{phrase}\b", text)]
# A store's word, which a reader need not know: in its own pages, and as the name of a table or an option.
of_stores = ("docs/concepts.md", "docs/store.md", "docs/architecture.md")
wrong += [f"{name}: 'bucket'" for name, text in texts.items()
          if name.endswith(".md") and name not in of_stores and re.search("bucket", re.sub(r"`[^`]*`|--buckets", "", text))]
wrong += [f"the glossary has '{word}' twice" for word in set(words) if words.count(word) > 1]
wrong += [f"no page has the glossary's '{word}'" for word in words if not any(re.search(rf"\b{word}", text) for text in flat.values())]
print("\n".join([*wrong, f"{len(words)} words, {len(never)} phrases, {len(texts)} texts, {len(wrong)} wrong"]))
sys.exit(bool(wrong) or len(words) < 15 or len(never) < 10 or len(texts) < 50)
