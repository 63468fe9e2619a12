#!/usr/bin/python3
"""Writes the library as two files: seen.c, one translation unit, and seen.h.

    tools/amalgamation.py [FOLDER]        FOLDER: build/amalgamation

seen.c is C11 for gcc and clang. It needs no other file, and no flags: kernels for an instruction set name it in
attributes, and cpu_choose() picks one at run time. XXH3 comes from the system's xxhash.h and is compiled in. Only
names of seen.h are visible outside; everything else is static.

How files of src/ become one file:

- A header is written where the first file includes it. Two kinds of headers are text of each file that includes
  them: those without a guard, and those named *_kernel.h.
- A name that a file keeps for itself (a static function, a variable, a type, a tag, a macro) gets the file's name
  behind it, if another file or header declares the same name. The script finds these names by reading the
  declarations at file scope. A mistake of this reader shows as an error of the compiler.
- Macros of a file end with the file.
- A file NAME_ISA.c, where meson.build has a row ['ISA', ['-m…', …]], is a kernel. Its functions have these
  instruction sets. It gets its own copy of each inline function that it uses from headers, because an inline function
  may choose its code by __BMI2__ and the like.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

TOKEN = re.compile(r"""
    (?P<space>(?:[ \t\r\f]|\\\n)+ | /\*.*?\*/ | //[^\n]*)
  | (?P<line>\n)
  | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | [uUL]?'(?:\\.|[^'\\\n])*')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<mark>->|\.\.\.|\#\#|[-+*/%&|^=!<>]=|<<|>>|&&|\|\||.)
""", re.X | re.S)
DIRECTIVE = re.compile(r"#(?:\\\n|/\*.*?\*/|[^\n])*", re.S)
GUARD = re.compile(r"(?:/\*.*?\*/\s*)?#ifndef (\w+_H)\n#define \1\n(.*)#endif[^\n]*\n\Z", re.S)

Token = collections.namedtuple("Token", "kind text")


def tokens(text):
    """The text as tokens; a directive of the preprocessor is one token."""
    at, found, fresh = 0, [], True
    while at < len(text):
        directive = DIRECTIVE.match(text, at) if fresh and text[at] == "#" else None
        match = directive or TOKEN.match(text, at)
        kind = "directive" if directive else match.lastgroup
        found.append(Token(kind, match.group()))
        fresh = kind == "line" or (fresh and kind == "space")
        at = match.end()
    return found


def solid(code):
    """Indices of the tokens that are code."""
    return [i for i, token in enumerate(code) if token.kind in ("name", "number", "string", "mark")]


OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
QUIET = {"__attribute__", "_Static_assert", "_Alignas", "__asm__", "__typeof__"}


class Item:
    """A declaration or definition at file scope: tokens from `begin` up to `end`."""

    def __init__(self, begin, end, code, macros):
        self.begin, self.end = begin, end
        self.ordinary, self.tags = set(), set()
        words = [code[i].text for i in range(begin, end) if code[i].kind not in ("space", "line", "directive")]
        depth, heads = 0, []
        for i, word in enumerate(words):  # heads: the words outside of all brackets
            if word in CLOSE:
                depth -= 1
            heads.append((depth, word, i))
            if word in OPEN:
                depth += 1
        self.words = words
        outer = [word for level, word, _ in heads if level == 0]
        before = outer[:outer.index("{")] if "{" in outer else outer
        self.static = "static" in before or any(w in macros and "static" in macros[w].split() for w in before)
        self.typedef = "typedef" in before
        self.body = words[-1] == "}"  # of a function
        self.variable = False
        self._tags(words)
        if words[0] == "_Static_assert":
            return
        self._names(words)

    def _tags(self, words):
        for i, word in enumerate(words[:-2]):
            if word not in ("struct", "union", "enum"):
                continue
            named = words[i + 1] not in "{"
            opened = i + (2 if named else 1)
            if words[opened] != "{" or self.body and "(" in words[:opened]:
                continue
            if named:
                self.tags.add(words[i + 1])
            if word == "enum":
                depth = 0
                for before, constant in zip(words[opened:], words[opened + 1:]):
                    depth += before in OPEN
                    depth -= before in CLOSE
                    if depth == 0:
                        break
                    if depth == 1 and before in "{," and re.match(r"[A-Za-z_]", constant):
                        self.ordinary.add(constant)

    def _names(self, words):
        """The declarators: what stands before ( or = or , or ; or [ outside of brackets."""
        depth, i, value, last = 0, 0, False, None
        while i < len(words):
            word = words[i]
            if word in QUIET:
                i = self._matching(words, i + 1) + 1
                continue
            if depth == 0 and word in ("(", "=", ",", ";", "[") and not value:
                if last:
                    self.ordinary.add(last)
                    self.variable |= word != "(" and not self.typedef
                elif word == "(" and words[i + 1] == "*":  # (*name)(…)
                    self.ordinary.add(words[i + 2])
                    self.variable |= not self.typedef
                if word in "([":
                    i = self._matching(words, i) + 1
                    last = None
                    continue
            if word in OPEN:
                if word == "{" and self.body and self.ordinary and not value:
                    return
                i, last = self._matching(words, i) + 1, None
                continue
            value = (value or word == "=") and word not in (",", ";")
            last = word if re.match(r"[A-Za-z_]", word) and word not in KEYWORDS else None
            if i and words[i - 1] in ("struct", "union", "enum"):
                last = None
            i += 1

    @staticmethod
    def _matching(words, i):
        depth = 0
        for j in range(i, len(words)):
            depth += words[j] in OPEN
            depth -= words[j] in CLOSE
            if depth == 0:
                return j
        raise SystemExit("amalgamation.py: a bracket is not closed near " + " ".join(words[i:i + 8]))


KEYWORDS = set("const volatile static extern inline typedef struct union enum void char short int long float double "
               "signed unsigned _Bool __extension__".split())


def items(code, macros):
    """The items of a file, in order."""
    found, begin, depth, start = [], None, 0, None
    places = solid(code)
    k = 0
    while k < len(places):
        i = places[k]
        word = code[i].text
        if begin is None:
            # A macro that stands for whole functions: NAME(...) without a semicolon.
            if word in macros and k + 1 < len(places) and code[places[k + 1]].text == "(":
                while True:
                    k += 1
                    depth += code[places[k]].text in OPEN
                    depth -= code[places[k]].text in CLOSE
                    if depth == 0:
                        break
                k += 1
                continue
            begin = i
        if word in OPEN:
            if depth == 0 and word == "{":
                start = k
            depth += 1
        elif word in CLOSE:
            depth -= 1
        ends = depth == 0 and (word == ";" or word == "}" and function(code, places, begin, start))
        if ends:
            found.append(Item(begin, i + 1, code, macros))
            begin = None
        k += 1
    return found


def function(code, places, begin, start):
    """Whether the brace at `start` opens the body of a function: ) stands before it, and no = outside of brackets."""
    if code[places[start - 1]].text != ")":
        return False
    depth = 0
    for k in places[:start]:
        if k < begin:
            continue
        depth += code[k].text in OPEN
        depth -= code[k].text in CLOSE
        if depth == 0 and code[k].text == "=":
            return False
    return True


DEFINE = re.compile(r"#\s*define\s+(\w+)(\([^)]*\))?(.*)", re.S)
INCLUDE = re.compile(r'#\s*include\s+"([^"]+)"')


class Unit:
    """A header, or a source file with the headers that are its own text."""

    def __init__(self, path, text, pasted=()):
        self.path, self.pasted = path, pasted
        self.code = tokens(text)
        self.includes = []  # in order
        self.macros, self.macro_text = {}, {}
        for token in self.code:
            if token.kind == "directive":
                if (include := INCLUDE.match(token.text)) is not None:
                    self.includes.append(include.group(1))
                if (define := DEFINE.match(token.text)) is not None:
                    self.macros[define.group(1)] = define.group(3)
        self.items = []

    def read(self, macros):
        """Finds the items, once all macros are known."""
        self.items = items(self.code, {**macros, **self.macros})
        self.ordinary = set().union(*(item.ordinary for item in self.items)) | self.pasted_names()
        self.tags = set().union(*(item.tags for item in self.items))

    def pasted_names(self):
        """The beginnings of names that a macro pastes together for static functions: near_ of near_##f."""
        found = set()
        for body in self.macros.values():
            if "static" in body:
                found |= set(re.findall(r"\b([A-Za-z_]\w*)##\w+\(", body))
        return found

    def functions(self):
        return [item for item in self.items if item.body and item.static]


# -- reading src/ ------------------------------------------------------------------------------------------


def is_own_text(path):
    return path.name.endswith("_kernel.h") or not GUARD.match(path.read_text())


def expand(path, seen=None):
    """The text of a file, with the headers that are its own text in place."""
    seen = set() if seen is None else seen
    text = path.read_text()
    guard = GUARD.match(text)
    if path.suffix == ".h" and guard:
        if path in seen:
            return ""
        seen.add(path)
        text = guard.group(2)

    def place(match):
        header = SRC / match.group(1)
        return expand(header, seen) if header.exists() and is_own_text(header) else match.group()

    return re.sub(r'^#\s*include "([^"]+)"\n', place, text, flags=re.M)


def instruction_sets():
    """{'avx2': {'avx2', 'bmi2'}, …}, as meson.build has them."""
    sets = collections.defaultdict(set)
    for isa, flags in re.findall(r"\['(\w+)',\s*\[((?:'-m[^']*',?\s*)+)\]\]", (ROOT / "meson.build").read_text()):
        sets[isa] |= {flag for flag in re.findall(r"'-m([^']*)'", flags) if "=" not in flag}
        sets[isa].add("popcnt")  # which avx2 implies
    return sets


class Library:
    def __init__(self):
        self.headers = {}
        self.kernels = instruction_sets()
        paths = sorted(SRC.rglob("*.c"), key=lambda path: (self.isa(path) is not None, path))
        self.sources = [Unit(path, expand(path)) for path in paths]
        for unit in self.sources:
            self._headers(unit)
        macros = {}
        for header in self.headers.values():
            macros.update(header.macros)
        for unit in self.units():
            unit.read(macros)
        stems = collections.Counter(unit.path.stem for unit in self.sources)
        for unit in self.sources:
            unit.suffix = unit.path.stem if stems[unit.path.stem] == 1 else f"{unit.path.parent.name}_{unit.path.stem}"
        self.public = set(re.findall(r"\bseen_\w+", "".join(p.read_text() for p in public_headers())))
        self.ordinary, self.tags = collections.Counter(), collections.Counter()
        for unit in self.units():
            self.ordinary.update(unit.ordinary | set(unit.macros))
            self.tags.update(unit.tags)

        self.entries = {name: self.isa(unit.path) for unit in self.sources if self.isa(unit.path)
                        for item in unit.items if item.body and not item.static for name in item.ordinary}

    def units(self):
        return [*self.headers.values(), *self.sources]

    def isa(self, path):
        name = path.stem.rsplit("_", 1)[-1]
        return name if name in self.kernels else None

    def _headers(self, unit):
        for name in unit.includes:
            path = SRC / name
            if path.exists() and name not in self.headers:
                self.headers[name] = Unit(path, expand(path))
                self._headers(self.headers[name])

    def reaches(self, unit):
        """The headers that a file includes, directly or not."""
        found, todo = [], list(unit.includes)
        while todo:
            name = todo.pop(0)
            if name in self.headers and name not in found:
                found.append(name)
                todo += self.headers[name].includes
        return [self.headers[name] for name in found]

    def outside(self, unit):
        """Names that the files of the library share: they are declared in headers."""
        declared = set()
        for header in self.reaches(unit):
            declared |= header.ordinary
        return declared

    def renames(self, unit):
        """(ordinary names, tags) of a source file that get new names."""
        shared = self.outside(unit) | self.public
        static = set(unit.macros) | unit.pasted_names()
        for item in unit.items:
            if item.static or item.typedef or not item.body and not item.variable:
                static |= item.ordinary
            elif item.ordinary - shared and not item.words[0] == "extern":
                extern = item.ordinary - shared
                if not any(extern & other.ordinary for other in self.sources if other is not unit):
                    static |= extern
        prototypes = set()
        for other in self.sources:
            prototypes |= {name for item in other.items if not item.static and not item.typedef
                           for name in item.ordinary} if other is not unit else set()
        own = {name for name in static - shared if not (name in prototypes and not self._is_static(unit, name))}
        ordinary = {name: f"{name.rstrip('_')}_in_{unit.suffix}" + ("_" if name.endswith("_") else "")
                    for name in own if self.ordinary[name] > 1}
        tags = {name: f"{name}_in_{unit.suffix}" for name in unit.tags if self.tags[name] > 1}
        # Macros of headers that this file does not include mean nothing here.
        known = set().union(*(header.macros for header in self.reaches(unit)))
        foreign = set().union(*(header.macros for header in self.headers.values())) - known
        words = {token.text for token in unit.code if token.kind == "name"}
        ordinary.update({name: f"{name}_in_{unit.suffix}" for name in words & foreign if name not in ordinary})
        for start in unit.pasted_names() & set(ordinary):  # observe_16 of observe_##f
            for name in words - unit.ordinary - shared:
                if name.startswith(start):
                    ordinary[name] = ordinary[start] + name[len(start):]
        return ordinary, tags

    @staticmethod
    def _is_static(unit, name):
        return any(name in item.ordinary and (item.static or item.typedef) for item in unit.items) \
            or name in unit.macros or any(name in i.ordinary and "enum" in i.words[:2] for i in unit.items)


# -- writing ---------------------------------------------------------------------------------------------


def rename(code, ordinary, tags):
    """The tokens under their new names. Members of structs keep theirs."""
    out, places = list(code), solid(code)
    texts = [code[i].text for i in places]
    inside = []  # for each open bracket: whether it is the body of a struct or union
    for k, word in enumerate(texts):
        if word == "{":
            struct = k > 0 and texts[k - 1] in ("struct", "union") or k > 1 and texts[k - 2] in ("struct", "union")
            inside.append(struct)
        elif word in "([" and len(word) == 1:
            inside.append(False)
        elif word in CLOSE:
            inside.pop() if inside else None
        elif code[places[k]].kind == "name":
            before, after = texts[k - 1] if k else "", texts[k + 1] if k + 1 < len(texts) else ""
            if before in ("struct", "union", "enum"):
                new = tags.get(word)
            elif before in (".", "->"):
                new = None
            elif inside and inside[-1] and after in (";", ",", "[", ":"):
                new = None  # the name of a member
            elif len(inside) > 1 and inside[-2] and before == "*" and texts[k - 2] == "(" and after == ")":
                new = None  # of a member that points to a function
            elif k > 3 and before == "," and offset_of(texts, k):
                new = None
            else:
                new = ordinary.get(word)
            if new:
                out[places[k]] = Token("name", new)
    for i, token in enumerate(code):
        if token.kind != "directive":
            continue
        define = re.match(r"(#\s*)(define|undef)(\s+)(.*)", token.text, re.S)
        if define:
            body = rename([t for t in tokens_of_line(define.group(4))], ordinary, tags)
            out[i] = Token("directive", define.group(1) + define.group(2) + define.group(3) + text_of(body))
        elif re.match(r"#\s*(if|elif|ifdef|ifndef)\b", token.text):
            out[i] = Token("directive", re.sub(r"\w+", lambda m: ordinary.get(m.group(), m.group()), token.text))
    return out


def offset_of(texts, k):
    """Whether the name at k is the second argument of offsetof(struct x, name)."""
    for back in range(k - 1, max(k - 6, -1), -1):
        if texts[back] == "(":
            return back > 0 and texts[back - 1] == "offsetof"
    return False


def tokens_of_line(text):
    return [Token(m.lastgroup, m.group()) for m in TOKEN.finditer(text)]


def text_of(code):
    return "".join(token.text for token in code)


def make_static(unit, public, code):
    """Gives functions and variables at file scope that are not public internal linkage."""
    out = [Token(token.kind, re.sub(r"\bextern\b", "static", token.text)) if token.kind == "directive" else token
           for token in code]  # macros that declare
    for item in unit.items:
        if item.static or item.typedef or not item.ordinary or item.words[0] == "_Static_assert":
            continue
        if item.ordinary & public or not (item.body or item.variable or "(" in item.words):
            continue
        if item.tags and not item.body and item.words[-2] == "}":
            continue
        first = item.begin
        if out[first].text == "extern":
            out[first] = Token("name", "static")
        else:
            out[first] = Token(out[first].kind, "static " + out[first].text)
    return out


def grant(unit, entries, code):
    """Gives the declarations of kernels' functions their instruction sets, as their definitions have."""
    out = list(code)
    for item in unit.items:
        if item.body or item.typedef or not item.ordinary & set(entries):
            continue
        name = None
        for i in range(item.begin, item.end):
            if code[i].text in entries:
                name = code[i].text
            elif code[i].text == ")" and name:
                out[i] = Token("mark", f") TARGET_{entries[name].upper()}")
                name = None
    return out


def public_headers():
    headers = sorted((ROOT / "include").glob("seen*.h"), key=lambda path: (path.name != "seen.h", path.name))
    return headers


def body_of(path):
    """(comment at the top, what stands between the guards, without the frame that all share)."""
    text = path.read_text()
    guard = GUARD.match(text)
    head = text[:text.index("#ifndef")].strip()
    body = guard.group(2)
    frame = [r'#ifdef __cplusplus\nextern "C" \{\n#endif\n', r"#ifdef __cplusplus\n\}\n#endif\n",
             r"#ifdef __GNUC__\n#pragma GCC visibility (?:push\(default\)|pop)\n#endif\n", r'#include "seen\w*\.h"\n']
    for part in frame:
        body = re.sub(part, "", body)
    includes = re.findall(r"#include <[^>]+>\n", body)
    body = re.sub(r"#include <[^>]+>\n", "", body)
    return head, includes, body.strip()


def write_header():
    heads, includes, bodies = [], [], []
    for path in public_headers():
        head, system, body = body_of(path)
        heads.append(head)
        includes += [line for line in system if line not in includes]
        bodies.append(body if path.name == "seen.h" else head + "\n\n" + body)
    return (heads[0] + "\n\n/* All public headers of the library in one file, for seen.c beside it. */\n"
            "#ifndef SEEN_H\n" + "".join(f"#define {path.stem.upper()}_H\n" for path in public_headers()) + "\n"
            + "".join(includes) + '\n#ifdef __cplusplus\nextern "C" {\n#endif\n#ifdef __GNUC__\n'
            "#pragma GCC visibility push(default)\n#endif\n\n" + "\n\n".join(bodies) +
            "\n\n#ifdef __GNUC__\n#pragma GCC visibility pop\n#endif\n#ifdef __cplusplus\n}\n#endif\n#endif\n")


def xxhash():
    """The text of xxhash.h, which the compiler finds."""
    compiler = os.environ.get("CC", "cc").split()
    run = subprocess.run([*compiler, "-E", "-M", "-x", "c", "-"], input="#include <xxhash.h>\n", text=True,
                         capture_output=True)
    paths = re.findall(r"\S*xxhash\.h", run.stdout)
    if run.returncode or not paths:
        raise SystemExit("amalgamation.py: xxhash.h is missing: install libxxhash-dev")
    text = pathlib.Path(paths[0]).read_text()
    if "XXH3_128bits_withSeed" not in text:
        raise SystemExit(f"amalgamation.py: {paths[0]} has no XXH3: it takes xxHash 0.8 or newer")
    return text


TOP = """\
/* seen.c - the library of seen in one file; seen.h beside it documents every call.
 *
 *     cc -O2 -c seen.c         gcc or clang, C11, little-endian; link with -lm
 *
 * tools/amalgamation.py wrote this file from the sources of seen %s (MIT licence).  It contains
 * xxhash.h, whose licence (BSD) stands where that file begins.  Define HAVE_SODIUM and link with
 * -lsodium for hash=siphash. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "seen.h"
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "seen keeps its tables and snapshots little-endian"
#endif
/* Inline functions that this build does not use, and warnings about xxhash.h. */
#pragma GCC diagnostic ignored "-Wunused-function"
"""

TARGET = """\
#if defined __x86_64__
#define TARGET_{name} __attribute__((target("{flags}")))
#else
#define TARGET_{name}
#endif
"""

BEGIN_ISA = """\
#if defined __clang__
#pragma clang attribute push(__attribute__((target("{flags}"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("{flags}")
#endif
"""
END_ISA = """\
#if defined __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
"""


class Writer:
    def __init__(self, library):
        self.library, self.written, self.parts = library, set(), []

    def include(self, directive):
        """What stands for an #include: nothing, a header, or the directive itself."""
        name = INCLUDE.match(directive)
        if name and name.group(1) in self.library.headers:
            name = name.group(1)
            if name in self.written:
                return ""
            self.written.add(name)
            unit = self.library.headers[name]
            return self.unit(unit, unit.code)
        if name and (ROOT / "include" / name.group(1)).exists():
            return ""
        if "xxhash.h" in directive:
            return "\n" + xxhash() + "\n"
        return directive

    def unit(self, unit, code):
        out = []
        for token in grant(unit, self.library.entries, make_static(unit, self.library.public, code)):
            if token.kind == "directive" and re.match(r"#\s*include", token.text):
                out.append(self.include(token.text))
            else:
                out.append(token.text)
        title = f"\n/* ==== {unit.path.relative_to(ROOT)} " .ljust(96, "=") + " */\n"
        return title + "".join(out).strip("\n") + "\n"

    def source(self, unit):
        isa = self.library.isa(unit.path)
        ordinary, tags = self.library.renames(unit)
        copies = self.copies(unit) if isa else []
        for item in (item for _, chosen in copies for item in chosen):
            for name in item.ordinary:
                ordinary[name] = f"{name}_in_{unit.suffix}"
        text = self.unit(unit, rename(unit.code, ordinary, tags))
        # What the file includes comes before its own functions: copies of inline functions stand between.
        if isa:
            flags = self.library.kernels[isa]
            copied = ""
            for header, chosen in copies:
                for item in chosen:
                    copied += text_of(rename(header.code[item.begin:item.end], ordinary, {})) + "\n\n"
            copied = self.known_macros(copied, flags)
            text = (f"\n#if defined __x86_64__\n#include <immintrin.h>\n" +
                    BEGIN_ISA.format(flags=",".join(sorted(flags))) + copied + self.known_macros(text, flags) +
                    END_ISA + "#endif\n")
        undef = [ordinary.get(name, name) for name in unit.macros if not name.startswith("XXH_")]
        return text + "".join(f"#undef {name}\n" for name in sorted(undef))

    @staticmethod
    def known_macros(text, flags):
        """clang does not define __BMI2__ where an attribute grants it: conditions on these are true."""
        for flag in flags:
            text = re.sub(r"#\s*ifdef __%s__\b" % flag.upper(), "#if 1", text)
        return text

    def copies(self, unit):
        """Inline functions of headers that a kernel uses, directly or not, in order of their headers."""
        headers, wanted = [], {token.text for token in unit.code if token.kind == "name"}
        for token in unit.code:
            if token.kind == "directive":
                wanted |= set(re.findall(r"\w+", token.text))
        order = [name for name in self.library.headers if self.library.headers[name] in self.library.reaches(unit)]
        order = self.below(order)
        grown = True
        while grown:
            size = len(wanted)
            for name in order:
                for item in self.library.headers[name].functions():
                    if item.ordinary & wanted:
                        wanted |= set(item.words)
            grown = len(wanted) > size
        for name in order:
            header = self.library.headers[name]
            chosen = [item for item in header.functions() if item.ordinary & wanted]
            headers.append((header, chosen))
        return headers

    def below(self, names):
        """Headers in the order in which each stands behind those that it includes."""
        done = []

        def visit(name):
            if name in done or name not in names:
                return
            for other in self.library.headers[name].includes:
                visit(other)
            done.append(name)

        for name in names:
            visit(name)
        return done

    def whole(self):
        version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text()).group(1)
        parts = [TOP % version]
        for isa, flags in self.library.kernels.items():
            parts.append(TARGET.format(name=isa.upper(), flags=",".join(sorted(flags))))
        kernels = [unit for unit in self.library.sources if self.library.isa(unit.path)]
        for unit in kernels:  # their headers first, without the kernels' instruction sets
            for name in unit.includes:
                parts.append(self.include(f'#include "{name}"') if name in self.library.headers else "")
        parts += [self.source(unit) for unit in self.library.sources]
        return re.sub(r"\n{3,}", "\n\n", "".join(parts))


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/amalgamation")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("seen.h", write_header()), ("seen.c", Writer(Library()).whole())):
        path = folder / name
        if not path.exists() or path.read_text() != text:  # so that what depends on it is not built again
            path.write_text(text)


if __name__ == "__main__":
    main()
