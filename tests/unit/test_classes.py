"""The class rules (S14): what they prove, and above all what they must not. A false proof hides a true item."""

import re
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.diff import FileDiff, Hunk, Line, parse_diff
from verifier.verification.classes import proofs
from verifier.verification.model import DropClass


def change(path: str, body: str, *, old_path: str | None = None, new: bool = False, at: int = 40) -> FileDiff:
    """A file with one hunk. `body` is the hunk's lines with their signs; one with no sign is blank context."""
    lines = body.strip("\n").split("\n")
    old, new_count = (sum(line[:1] in (sign, " ", "") for line in lines) for sign in "-+")
    was = "/dev/null" if new else f"a/{old_path or path}"
    place = "@@ -0,0 +1," if new else f"@@ -{at},{old} +{at},"
    head = [f"diff --git a/{old_path or path} b/{path}"]
    if old_path:
        head += [f"rename from {old_path}", f"rename to {path}"]
    if new:
        head.append("new file mode 100644")
    text = "\n".join([*head, f"--- {was}", f"+++ b/{path}", f"{place}{new_count} @@", *lines, ""])
    (file,) = parse_diff(text.encode("utf-8")).files
    assert len(file.hunks) == 1
    assert len(file.hunks[0].lines) == len(lines)
    return file


def classes(file: FileDiff) -> set[DropClass]:
    return {proof.drop_class for proof in proofs(file, file.hunks)}


PROVEN = [
    # docs: prose at a path for people
    ("docs", "README.md", "-This libary keeps the session.\n+This library keeps the session."),
    ("docs", "CHANGELOG.md", " ## Next\n+- Fix crash on an empty cart"),
    ("docs", "docs/guide/cart.md", " # Cart\n\n-A cart holds line.\n+A cart holds lines, and `total` is their sum."),
    ("docs", "packages/core/README.de.md", "+The core of [the shop](https://example.org/shop)."),
    ("docs", "doc/usage.rst", "-Usage of cart\n--------------\n+Usage of carts\n+--------------"),
    ("docs", "AUTHORS", "-Ann of Ghent\n+Anna of Ghent"),
    ("docs", "docs/faq.adoc", "+You can keep a cart for a week."),
    (
        "docs",
        "README.md",
        "-See the guide.\n+See [the guide](https://example.org/guide#start) or [the start](docs/a.md) for it.",
    ),
    ("docs", "README.md", "-\u3053\u308c\u306f the cart of it\n+\u3053\u308c\u306f the basket of it"),
    # docs: comments only
    (
        "docs",
        "src/a.py",
        " a = b(1)\n-    # sprache f\u00fcr kunden\n+    # sprachen f\u00fcr kunden (alle)\n c = d(1)",
    ),
    ("docs", "src/a.py", " a = b(1)\n+    # See https://example.org/issue/12 for the cause\n c = d(1)"),
    ("docs", "src/a.ts", " a();\n+// Returns early when the cart is empty.\n b();"),
    ("docs", "src/a.swift", " let a = make()\n+// made only once here\n let b = make()"),
    ("docs", "src/a.php", " $a = make();\n+// made only once here\n $b = make();"),
    ("docs", "src/a.scala", " val a = make()\n+// made only once here\n val b = make()"),
    (
        "docs",
        "src/a.js",
        " a();\n+// \u041f\u0440\u043e\u0432\u0435\u0440\u043a\u0430 \u043a\u043e\u0440\u0437\u0438\u043d\u044b\n b();",
    ),
    (
        "docs",
        "src/app.py",
        " def total(cart):\n-    # sums teh lines\n+    # sums the lines of the cart\n     return cart.total()",
    ),
    ("docs", "src/app.ts", " const a = make();\n-// Keeps it around, for now\n+// Keeps the value around\n use(a);"),
    ("docs", "src/App.java", " int a = make();\n-/** Makes teh cart. */\n+/** Makes the cart. */\n Cart make() {"),
    ("docs", "src/a.c", " int a;\n+/*\n+ * Holds the count of carts,\n+ * never below zero.\n+ */\n int b;"),
    ("docs", "pkg/cart.go", " func a() {\n-\t// nothing to see\n+\t// nothing to see here\n \tb()\n }"),
    ("docs", "src/lib.rs", " let a = make();\n+// the borrow ends here\n drop(a);"),
    ("docs", "lib/cart.rb", " def total\n-  # sum of lines\n+  # sum of all lines\n   sum\n end"),
    ("docs", "bin/build.sh", " set -e\n-# build the thing\n+# build every package\n for a in $b; do"),
    ("docs", "deploy/app.yaml", " kind: Service\n-# the old port\n+# the port of the proxy\n spec:"),
    ("docs", "web/site.css", " .a {\n }\n-/* Colours of carts */\n+/* Colours of the cart */\n .b {"),
    ("docs", "src/Cart.cs", " int a = 1;\n-// not yet used\n int b = 2;"),
    ("docs", "src/Cart.kt", " val a = make()\n+// made only once here\n val b = make()"),
    # tests
    ("tests", "tests/test_cart.py", "     assert cart.total == 3\n+    assert cart.count == 1\n\n\n def test_b():"),
    (
        "tests",
        "src/cart.test.ts",
        "   const a = make();\n+  expect(a.count).toBe(1);\n   expect(a.total).toBe(3);\n });",
    ),
    ("tests", "pkg/cart_test.go", " \trequire.Equal(t, 1, a)\n+\tassert.Equal(t, 2, b)\n }"),
    ("tests", "tests/cart.rs", "     let a = make();\n+    assert_eq!(a.count(), 1);\n }"),
    ("tests", "src/test/java/CartTest.java", "     Cart a = make();\n+    assertEquals(1, a.count());\n   }"),
    ("tests", "spec/cart_spec.rb", "     a = make\n+    expect(a.count).to eq(1)\n   end"),
    (
        "tests",
        "tests/test_cart.py",
        "     assert cart.total == 3\n+\n+\n+def test_count():\n+    cart = make()\n+    assert cart.count == 1\n",
    ),
    (
        "tests",
        "web/cart.spec.tsx",
        '   });\n+\n+  it("counts", () => {\n+    const a = make();\n+    expect(a.count).toBe(1);\n+  });\n });',
    ),
    (
        "tests",
        "pkg/cart_test.go",
        " }\n+\n+func TestCount(t *testing.T) {\n+\ta := cart()\n+\tassert.Equal(t, 1, a.Count())\n+}",
    ),
    (
        "tests",
        "src/test/kotlin/CartTest.kt",
        "   }\n+\n+  @Test\n+  fun counts() {\n+    assertEquals(1, make().count)\n+  }\n }",
    ),
    (
        "tests",
        "tests/test_cart.py",
        "     assert cart.total == 3\n+\n+\n+def test_debt():\n+    with pytest.raises(ValueError):\n+        Cart(-1)\n",
    ),
    (
        "tests",
        "tests/CartTests.cs",
        "     }\n+\n+    [Fact]\n+    public void Adds()\n+    {\n+        Assert.Equal(3, Add(1, 2));\n+    }\n }",
    ),
    ("tests", "tests/cart.rs", " }\n+\n+#[test]\n+fn adds() {\n+    assert_eq!(add(1, 2), 3);\n+}"),
    # fixtures
    (
        "fixtures",
        "tests/fixtures/users.json",
        ' [\n   {\n-    "name": "Ann",\n+    "name": "Anna",\n     "age": 3\n   }\n ]',
    ),
    ("fixtures", "pkg/testdata/words.txt", " cart\n+basket"),
    ("fixtures", "tests/data/sample.json", ' {\n-  "name": "Ann"\n+  "name": "Eve"\n }'),
    ("fixtures", "tests/fixtures/carts.yaml", "+- name: Bob\n   age: 3"),
    ("fixtures", "spec/fixtures/carts.csv", " id,name\n-1,Ann\n+1,Anna\n+2,Bob"),
    ("fixtures", "web/__fixtures__/cart.yaml", " cart:\n-  count: 1\n+  count: 2"),
    # generated
    ("generated", "api/cart.pb.go", " // versions:\n-// \tprotoc-gen-go v1.28.1\n+// \tprotoc-gen-go v1.31.0\n"),
    ("generated", "api/cart.pb.go", "-\t0x0a, 0x12, 0x1b,\n+\t0x0a, 0x13, 0x1b, 0x02,\n+\t0x0a,"),
    (
        "generated",
        "api/cart.pb.go",
        " }\n+\n+func (x *Cart) GetCount() int32 {\n+\tif x != nil {\n+\t\treturn x.Count\n+\t}\n+\treturn 0\n+}",
    ),
    (
        "generated",
        "api/cart.pb.go",
        (
            ' type Cart struct {\n-\tId string `protobuf:"bytes,1,opt,name=id,proto3" json:"id,omitempty"`\n'
            '+\tId    string `protobuf:"bytes,1,opt,name=id,proto3" json:"id,omitempty"`\n'
            '+\tCount int32  `protobuf:"varint,2,opt,name=count,proto3" json:"count,omitempty"`'
        ),
    ),
    (
        "generated",
        "api/cart_pb2.py",
        "-_globals['_CART']._serialized_start=14\n+_globals['_CART']._serialized_start=22",
    ),
    ("generated", "web/api.js", " // Code generated by protoc. DO NOT EDIT.\n-// protoc v3.1\n+// protoc v3.2"),
    # formatting
    ("formatting", "src/a.ts", " if (a) {\n-  b();\n+    b();\n }"),
    ("formatting", "src/a.go", " func a() {\n-\tb := c()  \n+\tb := c()\n }"),
    ("formatting", "src/A.java", "-  int a=b;\n+  int a = b;\n   return a;"),
    ("formatting", "src/a.c", " int a;\n+\n int b;"),
    ("formatting", "src/a.rs", " let a = b();\n-\n-\n+\n let c = d();"),
    ("formatting", "web/a.json", ' {\n-  "a": 1\n+    "a": 1\n }'),
    ("formatting", "web/a.scss", " .a {\n-color: red;\n+  color: red;\n }"),
    ("formatting", "src/a.kt", "-foo(  a)\n+foo( a)\n }"),
    ("formatting", "src/A.cs", "-}\n\\ No newline at end of file\n+}"),
]


@pytest.mark.parametrize(("drop_class", "path", "body"), PROVEN)
def test_what_path_and_lines_show_is_proven(drop_class: DropClass, path: str, body: str) -> None:
    """S14: the plain cases of each class, in many languages."""
    file = change(path, body)
    assert classes(file) == {drop_class}


UNPROVEN = [
    # docs: the path is not prose for people
    ("an agent reads it", "AGENTS.md", "+You can keep the cart."),
    ("an agent reads it", "docs/CLAUDE.md", "+You can keep the cart."),
    ("a skill is loaded", "skills/cart/README.md", "+You can keep the cart."),
    ("a prompt is loaded", "prompts/README.md", "+You can keep the cart."),
    ("a template is filled", ".github/ISSUE_TEMPLATE/bug.md", "+You can tell us the cause."),
    ("a template is filled", "docs/templates/mail.md", "+You can keep the cart."),
    ("mdx holds code", "docs/cart.mdx", "+You can keep the cart."),
    ("a notebook is run", "docs/cart.ipynb", "+You can keep the cart."),
    ("the law reads it", "LICENSE.md", "+You can keep the cart."),
    ("the law reads it", "NOTICE", "+You can keep the cart."),
    ("pip reads it", "docs/requirements.txt", "+cart of the shop"),
    ("crawlers read it", "docs/robots.txt", "+You can keep the cart."),
    ("cmake reads it", "docs/CMakeLists.txt", "+You can keep the cart."),
    ("a schema is parsed", "docs/cart.schema.md", "+You can keep the cart."),
    ("mdbook reads its order", "docs/SUMMARY.md", "+You can keep the cart."),
    ("a program ships it", "src/main/resources/docs/help.md", "+You can keep the cart."),
    ("a changeset releases", ".changeset/blue.md", "+You can keep the cart."),
    ("code in a docs directory", "docs/conf.py", "-html = 1\n+html = 2"),
    ("not in a docs directory", "content/post.md", "+You can keep the cart."),
    ("a test reads it", "tests/fixtures/README.md", "+You can keep the cart."),
    # docs: the lines are not prose
    ("doctest", "docs/cart.md", "+>>> total(1)\n+1"),
    ("doctest nearby", "docs/cart.rst", " >>> total(1)\n-the sum of one\n+the sum of two"),
    ("front matter", "docs/cart.md", " ---\n-title: the cart\n+title: the carts\n ---"),
    ("front matter out of sight", "docs/cart.md", "-weight: the last\n+weight: the first"),
    ("directive", "docs/cart.rst", "+.. literalinclude:: ../cart.py"),
    ("body of a directive", "docs/cart.rst", "-   the old text\n+   the new text"),
    ("fenced code", "docs/cart.md", " ```sh\n-the old\n+the new\n ```"),
    ("code in a fence out of sight", "docs/cart.md", "-client.connect(1)\n+client.connect(2)"),
    ("a command in a fence out of sight", "docs/cart.md", "-npm ci of the shop\n+npm add of the shop"),
    ("a plain command out of sight", "README.md", "-git push origin main\n+git push origin prod"),
    ("a command in a span", "README.md", "+Then you can `rm -rf dist` at the end."),
    ("a command to run", "README.md", "+Now run the setup of the shop."),
    ("a download", "README.md", "+You can download the [shop](https://example.org/x.sh)."),
    ("indented code", "docs/cart.md", "+    the old code"),
    ("html", "README.md", "+<script>the end of it</script>"),
    ("generated section", "README.md", " <!-- BEGIN_TF_DOCS -->\n-the old\n+the new"),
    ("template braces", "docs/cart.md", "+The {{ name }} of the cart."),
    ("licence words", "README.md", "-The MIT license of the shop.\n+The GPL license of the shop."),
    ("spdx", "README.md", "+SPDX of the shop"),
    ("a secret", "README.md", "+The password of the shop is Hunter."),
    ("a key", "README.md", "+The value of it is AKIA0123456789ABCDEF."),
    ("an option", "README.md", "+You can pass --force to the cart."),
    ("yaml list out of sight", "docs/cart.md", "+- image: the cart"),
    ("a make target beside commands", "README.md", " ./configure\n+make clean        # of the last build\n make -j8"),
    ("a listing's fence", "docs/cart.adoc", "-----------\n+----\n the old\n"),
    ("a key beside the change", "docs/cart.md", " choices:\n-# the old choice\n+# the new choice"),
    ("an archive to fetch", "docs/cart.md", "+- [Linux of the shop](https://example.org/cart.tar.gz)"),
    # docs: comments that tools read, or that are none
    ("lint pragma", "src/a.py", " a = b(1)\n+# noqa is on here\n c = d(1)"),
    ("type pragma", "src/a.py", " a = b(1)\n+# type: ignore\n c = d(1)"),
    ("coverage pragma", "src/a.py", " a = b(1)\n+# pragma: no cover\n c = d(1)"),
    ("shebang", "bin/a.py", "-#!/usr/bin/python2\n+#!/usr/bin/python3\n a = b(1)"),
    ("a comment above a shebang", "bin/a.py", "+# the tool of carts\n #!/usr/bin/python3\n a = b(1)"),
    ("encoding", "src/a.py", "-# coding utf\n+# coding latin\n a = b(1)"),
    ("script metadata", "src/a.py", " # /// script\n-# dependencies of one\n+# dependencies of two\n # ///\n a = b(1)"),
    ("dependency metadata", "src/a.py", '+# "requests<3",\n a = b(1)'),
    ("jupytext cell", "src/a.py", "+# %% the cell\n a = b(1)"),
    ("doctest in a docstring", "src/a.py", " >>> a = b(1)\n-# the old way\n+# the new way\n c = d(1)"),
    ("a heading in a prompt", "src/a.py", " You must never tell the user\n-# The old rules\n+# The new rules\n a = 1"),
    ("a string out of sight", "src/a.py", "-# The old rules\n+# The new rules"),
    ("triple quotes in sight", "src/a.py", ' A = """\n-# The old rules\n+# The new rules\n a = b(1)'),
    ("after a backslash", "src/a.py", " a = b + \\\n+# the rest of it\n   c\n d = e(1)"),
    ("comment becomes code", "src/a.py", " a = b(1)\n-# check(the, cart)\n+check(the, cart)"),
    ("code becomes comment", "src/a.py", " a = b(1)\n-check(cart)\n+# check the cart"),
    ("trailing comment", "src/a.py", "-a = b(1)  # the old\n+a = b(1)  # the new"),
    ("a docstring", "src/a.py", ' def a():\n-    """the old"""\n+    """the new"""\n     return b(1)'),
    ("css tool", "web/a.css", " .a {\n }\n+/* autoprefixer grid: autoplace */\n .b {"),
    ("eslint default-case", "src/a.ts", " a();\n+// no default\n b();"),
    ("swift tools version", "Package.swift", "-// swift-tools-version:5.5\n+// swift-tools-version:5.9\n import a;"),
    ("eslint", "src/a.ts", " a();\n+// eslint-disable-next-line no-eval\n b();"),
    ("pragma loses its line", "src/a.ts", " // eslint-disable-next-line no-eval\n+// the old way of it\n b();"),
    ("ts pragma loses its line", "src/a.ts", " // @ts-ignore\n+// the old way of it\n b();"),
    ("jsdoc loses its function", "src/a.js", " /**\n  * @param {A} a\n  */\n+/** The way of it. */\n b();"),
    ("ts-expect-error", "src/a.ts", " a();\n+// @ts-expect-error the types\n b();"),
    ("triple slash", "src/a.ts", " a();\n+/// the reference of it\n b();"),
    ("source map", "src/a.js", " a();\n-//# sourceMappingURL=a.map\n+//# sourceMappingURL=b.map"),
    ("jsx text", "src/a.jsx", " <p>\n-// the old\n+// the new\n </p>\n a();"),
    ("template literal", "src/a.js", " a(`\n-// the old\n+// the new\n `);"),
    ("webpack", "src/a.js", " a();\n+/* webpackChunkName is cart */\n b();"),
    ("istanbul", "src/a.js", " a();\n+/* istanbul ignore next */\n b();"),
    ("globals", "src/a.js", " a();\n+/* global foo, bar */\n b();"),
    ("jsdoc type", "src/a.js", " a();\n+/** @type {string} */\n b();"),
    ("line end for the engine only", "src/a.js", " a();\n+// the end\u2028evil()\n b();"),
    ("carriage return in a line", "src/a.py", " a = b(1)\n+# the end\rimport os\n c = d(1)"),
    ("bidi", "src/a.go", " a();\n+// the end \u202e of it\n b();"),
    ("unicode escape in java", "src/A.java", " a();\n+// the end \\u000a evil();\n b();"),
    ("php mode ends", "src/a.php", " a();\n+// the end ?> of it\n b();"),
    ("go build", "src/a.go", "-//go:build linux\n+//go:build windows\n \n package a\n a();"),
    ("go old build", "src/a.go", "-// +build linux\n \n package a\n a();"),
    ("cgo", "src/a.go", ' package a\n-// the int of a\n+// the long of a\n import "C"'),
    ("go example output", "src/a_test.go", " a()\n-\t// the old\n+\t// the new\n }"),
    ("nolint", "src/a.go", " a()\n+\t//nolint the end\n b()"),
    ("kubebuilder", "src/a.go", " a()\n+// +kubebuilder:validation:Minimum=1\n b()"),
    ("rust doc test", "src/a.rs", " a();\n-/// the old\n+/// the new\n b();"),
    ("fall through", "src/a.c", " a();\n-/* falls through here */\n b();"),
    ("preprocessor", "src/a.c", " a();\n-#include <a.h>\n+#include <b.h>\n b();"),
    ("comment takes the next line", "src/a.c", " a();\n // the path \\\n-// the old\n launch();"),
    ("block stays open", "src/a.c", " a();\n+/* the rest of it\n b();"),
    ("block closes earlier", "src/a.c", " a();\n /* the old\n-one of it */\n+one of it\n b();"),
    ("block opened above", "src/a.js", " a();\n- * the old\n+ * the new\n b();"),
    ("code behind a block", "src/a.c", " a();\n+/* the end */ launch();\n b();"),
    ("frozen string literal", "lib/a.rb", "-# frozen_string_literal: true\n a = 1"),
    ("after __END__", "lib/a.rb", " a = 1\n __END__\n-# the old\n+# the new"),
    ("heredoc", "bin/a.sh", " cat <<EOF\n-# the old\n+# the new\n EOF\n fi"),
    ("block of text in yaml", "a.yaml", " run: |\n-  # the old\n+  # the new\n a: b"),
    ("cloud-config", "a.yaml", "-#cloud-config\n+#cloud config\n a: b"),
    ("renovate", "a.yaml", " a: b\n+# renovate: datasource=docker\n c: d"),
    ("dockerfile directive", "Dockerfile", "-# syntax=a\n+# syntax=b\n FROM c"),
    ("sql hints", "a.sql", " select 1;\n--- the old\n+-- the new"),
    ("region", "src/A.cs", " a();\n+// region of the cart\n b();"),
    ("copyright", "src/a.ts", "-// Copyright of Ann\n+// Copyright of Bob\n a();"),
    ("a test tool reads it", "tests/testdata/a.go", " a()\n-// the old\n+// the new\n b()"),
    # tests
    ("assertion goes", "tests/test_a.py", " a = b(1)\n-    assert a == 1"),
    ("expected value", "tests/test_a.py", " a = b(1)\n-    assert a == 1\n+    assert a == 2"),
    ("loosened", "src/a.test.ts", " a();\n-  expect(a).toBe(1);\n+  expect(a).toBeDefined();"),
    ("skip", "tests/test_a.py", "+@pytest.mark.skip\n def test_a():\n     assert a"),
    ("only", "src/a.test.ts", "-it('a', () => {\n+it.only('a', () => {\n a();"),
    ("xit", "src/a.test.ts", "-it('a', () => {\n+xit('a', () => {\n a();"),
    ("todo", "src/a.test.ts", " });\n+it.todo('a');"),
    ("early return", "pkg/a_test.go", " func TestA(t *testing.T) {\n+\treturn\n \tassert.Equal(t, 1, a)"),
    ("go skip", "pkg/a_test.go", " func TestA(t *testing.T) {\n+\tt.Skip()\n \tassert.Equal(t, 1, a)"),
    ("rust ignore", "tests/a.rs", " #[test]\n+#[ignore]\n fn a() {"),
    ("java disabled", "src/test/java/ATest.java", "   @Test\n+  @Disabled\n   void a() {"),
    ("mocked", "tests/test_a.py", " a = b(1)\n+    monkeypatch.setattr(a, 'b', 1)\n     assert a"),
    ("patched by assignment", "src/a.test.ts", " a();\n+  expect(a.b = 1).toBe(1);\n   expect(a.b).toBe(1);"),
    (
        "raises takes the assertion",
        "tests/test_a.py",
        " with pytest.raises(Exception):\n+    assert False\n     call(1)",
    ),
    (
        "takes over a test's body",
        "tests/test_a.py",
        "     x = make()\n+    assert x\n+\n+def test_b():\n     assert x.ok",
    ),
    ("takes over a body", "tests/test_a.py", "     x = make()\n+\n+def test_b():\n+    assert x.a\n     assert x.ok"),
    (
        "takes an old attribute",
        "src/test/java/ATest.java",
        "   @Test\n+  @Test\n+  void b() {\n+    assertTrue(a);\n+  }\n   void a() {",
    ),
    (
        "takes an old decorator",
        "tests/test_a.py",
        " @pytest.mark.parametrize('a', [1])\n+def test_b():\n+    assert a\n+\n def test_a(a):",
    ),
    ("comes under an if", "src/a.test.js", " if (a)\n+  expect(a).toBe(1);\n   expect(b).toBe(2);"),
    ("conftest", "tests/conftest.py", " a = b(1)\n+    assert a == 1"),
    ("helper", "tests/helpers/test_a.py", "     a = b(1)\n+    assert a == 1"),
    ("jest config", "jest.config.test.js", " a();\n+expect(a).toBe(1);"),
    ("a name that only sounds so", "src/contest.py", "     a = b(1)\n+    assert a == 1"),
    ("production speed test", "src/speed_test.py", "     a = b(1)\n+    assert a == 1"),
    ("a testing library", "pkg/testing/a_test.go", " a()\n+\tassert.Equal(t, 1, a)"),
    (
        "sets what others read",
        "tests/test_a.py",
        "     assert a\n+\n+\n+def test_b():\n+    app.verify = False\n+    assert app",
    ),
    ("takes a nested body", "tests/test_a.py", " @decorated\n+    assert a"),
    ("no assertion in it", "src/a.test.ts", ' });\n+it("a", () => {\n+  a();\n+});'),
    ("constant assertion", "src/a.test.ts", " a();\n+  expect(true).toBe(true);\n b();"),
    # fixtures
    ("production loads it", "app/fixtures/initial.json", ' {\n-  "a": 1\n+  "a": 2\n }'),
    ("seeds", "tests/fixtures/seeds/a.json", ' {\n-  "a": 1\n+  "a": 2\n }'),
    ("migration", "tests/data/migrations/a.yaml", "-a: 1\n+a: 2"),
    ("a specification", "spec/data/api.yaml", "-port: 1\n+port: 2"),
    ("golden", "tests/fixtures/golden/a.json", ' {\n-  "a": 1\n+  "a": 2\n }'),
    ("expected", "pkg/testdata/a.expected.json", ' {\n-  "a": 1\n+  "a": 2\n }'),
    ("snapshot", "src/__snapshots__/a.snap", "-a: 1\n+a: 2"),
    ("a sample goes", "pkg/testdata/bad.txt", " a\n-b\n c"),
    ("an expectation inside", "tests/fixtures/a.json", ' {\n-  "expected": 1\n+  "expected": 2\n }'),
    ("a kind of value", "tests/fixtures/a.json", ' {\n-  "a": null\n+  "a": "b"\n }'),
    ("a flag", "tests/fixtures/a.json", ' {\n-  "a": true\n+  "a": false\n }'),
    ("a secret", "tests/fixtures/a.json", ' {\n-  "apiKey": "x"\n+  "apiKey": "y"\n }'),
    ("a key", "tests/fixtures/a.json", ' {\n-  "a": "x"\n+  "a": "ghp0123456789abcdefghijkl"\n }'),
    ("sql", "tests/fixtures/a.sql", "-a\n+b"),
    ("code", "tests/fixtures/a.py", "-a = 1\n+a = 2"),
    ("resources of main", "src/main/testdata/a.json", ' {\n-  "a": 1\n+  "a": 2\n }'),
    ("packages", "tests/fixtures/package.json", ' {\n-  "a": "1"\n+  "a": "2"\n }'),
    # generated
    ("hand edit under a mark", "src/a.go", " // Code generated by x. DO NOT EDIT.\n-\tretries = 3\n+\tretries = 10"),
    ("assets in code", "src/a.go", " // Code generated by x. DO NOT EDIT.\n-\t0x0a, 0x1b,\n+\t0x0a, 0x1c,"),
    ("hand edit in pb", "api/a.pb.go", " func (x *A) GetB() int32 {\n+\tlog.Print(x)\n \tif x != nil {"),
    ("hand edit in pb2", "api/a_pb2.py", " # source\n+import os\n"),
    (
        "code behind a descriptor",
        "api/a_pb2.py",
        "+DESCRIPTOR = _descriptor_pool.Default().AddSerializedFile(b'a'); f(b'b')",
    ),
    ("field number", "api/a.pb.go", '-\tA int `protobuf:"varint,1" json:"a"`\n+\tA int `protobuf:"varint,2" json:"a"`'),
    ("wrong getter", "api/a.pb.go", " }\n+func (x *A) GetB() int {\n+if x != nil {\n+return x.C\n+}\n+return 0\n+}"),
    ("said to be by hand", "api/a.pb.go", " // patched by hand\n-// protoc v3.1\n+// protoc v3.2"),
    ("mark in a string", "src/a.js", ' a("@generated");\n-b = 1\n+b = 2'),
    ("bundles are loaded", "dist/a.min.js", "-a()\n+b()"),
    # formatting
    ("python indent", "src/a.py", "-    a()\n+        a()"),
    ("yaml indent", "a.yaml", "-  a: b\n+    a: b"),
    ("makefile tab", "Makefile", "-    a\n+\ta"),
    ("markdown indent", "a.md", "-  a\n+    a"),
    ("in a string", "src/a.ts", '-  a("b  c");\n+  a("b c");'),
    ("template literal", "src/a.ts", " a(`\n-  b;\n+    b;\n `);"),
    ("template literal out of sight", "src/a.ts", "-  Hello ${name},\n+    Hello ${name},"),
    ("text out of sight", "src/a.ts", "-  Dear customer\n+    Dear customer"),
    ("yaml in a raw string", "src/a.go", "-  kind: Pod\n+    kind: Pod"),
    ("shell in a raw string", "src/a.go", " # skip the first\n-   let a = b(c)  \n+   let a = b(c)\n"),
    ("shell's variable in a raw string", "src/a.go", " a = ($spans | last)\n-\n }"),
    ("shell's end in a raw string", "src/a.go", " fi\n-}\n+  }"),
    ("text in java", "src/A.java", " It's here();\n-  b();\n+    b();"),
    ("blank line in a text", "src/a.ts", " Dear customer\n+\n Yours"),
    ("token changed", "src/a.ts", "-  if (a) b();\n+  if (!a) b();"),
    ("operators", "src/a.c", "-a = b + ++c;\n+a = b ++ + c;"),
    ("descendant selector", "web/a.css", "-.a .b {\n+.a.b {"),
    ("swift operator", "src/a.swift", "-let a = b - c;\n+let a = b -c;"),
    ("jsx text", "src/a.tsx", "-  a  b;\n+  a b;"),
    ("markup", "src/a.jsx", " <pre>\n-  a;\n+    a;\n </pre>"),
    ("macro", "src/a.c", "-#define A (b)\n+#define A(b)"),
    ("continued line", "src/a.c", " a \\\n-  b;\n+    b;"),
    ("asi", "src/a.js", "-return a;\n+return\n+a;"),
    ("joined lines", "src/a.js", "-a()\n-b()\n+a(); b()"),
    ("moved line", "src/a.js", "-a();\n b();\n+a();"),
    ("no-break space", "src/a.c", "-a = b;\n+a\u00a0= b;"),
    ("rust string over lines", "src/a.rs", ' let a = "\n-  b;\n+    b;\n ";'),
    ("c# verbatim", "src/A.cs", ' a = @"x" + b;\n-  c();\n+    c();'),
    ("java text block", "src/A.java", ' a = """\n-  b;\n+    b;\n """;'),
    ("regex", "src/a.js", "-a = /b  c/;\n+a = /b c/;"),
    ("pragma parted from its line", "src/a.js", " // eslint-disable-next-line no-eval\n+\n a();"),
    ("cgo blank line", "src/a.go", ' // int a;\n-\n import "C"'),
    ("build tag blank line", "src/a.go", " //go:build linux\n-\n package a"),
    ("a golden file", "tests/golden/a.json", '-"a": 1\n+  "a": 1'),
    ("html", "web/a.html", "-  a\n+a"),
    ("shell line ends", "bin/a.sh", "-a\n+a\r"),
    ("php outside of code", "src/a.php", " ?>\n+\n <?php"),
    # a second round: attacks on the rules above
    ("a command beside it: a block of code", "README.md", " git pull\n-The old of it\n+The new of it"),
    ("a block comment opens behind code", "a.c", " a(); /* b\n-// the old of it\n+// the new of it\n c(); */\n d();"),
    ("a text in a test", "tests/test_a.py", ' A = """\n     assert a.b\n+    assert b.c\n """'),
    ("a decorator of what stands below", "tests/test_a.py", "     @mark.a\n+    assert a.b\n     def test_c(self):"),
    ("a key glued to its value", "README.md", "+The mode of it is fast:true now."),
    ("nothing is shown above", "tests/test_a.py", "+    assert a.b\n     assert c.d"),
    ("under what is not shown", "tests/test_a.py", "     a = b(1)\n+        assert a.b\n     assert c.d"),
    (
        "ends the block around it",
        "a.test.ts",
        ' });\n+it("a", () => {\n+  expect(a).toBe(1);\n+})}\n+if (a) { b() } else {',
    ),
    ("a tag makes an object", "tests/fixtures/a.yaml", "+a: !!python/object:shop.Cart\n b: c"),
    ("no mark of a generator", "a.ts", "-// protoc v3.1\n+// protoc v3.2"),
    ("the shebang is the first line no more", "bin/a.js", "+// the tool of carts\n #!/usr/bin/env node\n a();"),
    (
        "WooCommerce parses the header",
        "shop.php",
        " /*\n- * WC tested up to: 7.0\n+ * WC tested up to: 8.0\n  */\n $a = b();",
    ),
    ("fall  through two spaces", "a.c", " a();\n-/* fall  through here */\n b();"),
    ("scala-cli loads what it says", "a.scala", " a();\n+// using scala 3.1\n b();"),
    ("hangul filler", "a.js", " a();\n+// the end \u3164 of it\n b();"),
    ("braille blank", "a.js", " a();\n+// the end \u2800 of it\n b();"),
    ("nbsp", "a.js", " a();\n+// the end\xa0of it\n b();"),
    ("em space", "a.js", " a();\n+// the end\u2003of it\n b();"),
    ("private use", "a.js", " a();\n+// the end\ue000of it\n b();"),
    ("cgj", "a.js", " a();\n+// the end\u034fof it\n b();"),
    ("homoglyph", "a.js", " a();\n+// the \u0430dmin of it\n b();"),
    ("fullwidth", "a.js", " a();\n+// the a\uff41dmin of it\n b();"),
    ("sprockets", "a.js", " a();\n+//= require jquery\n b();"),
    ("css require", "a.css", " .a {\n }\n /*\n- *= require the\n+ *= require a\n  */\n .b {"),
    ("context U+2028", "a.js", " a(); // x\u2028 foo(`\n+// the end of it\n b();"),
    ("a release tool writes below", "a.yaml", " a: b\n+# x-release-please-start-version here\n c: d"),
    ("deprecated go", "a.go", " a()\n+// Deprecated: use the other\n b()"),
    ("safety", "a.rs", " a();\n-// SAFETY: the pointer is good\n b();"),
    ("translators", "a.c", " a();\n+/* Translators: the count of carts */\n b();"),
    ("swift tools", "Package.swift", "-// swift-tools-version: 5.5\n+// swift-tools-version: 5.9\n import A\n a()"),
    ("js html comment", "a.js", " a();\n+<!-- the end of it\n b();"),
    ("js comment with cr", "a.js", " a();\n+// the end\revil()\n b();"),
    ("ruby =begin", " a.rb", " a = 1\n =begin\n-# the old\n+# the new\n =end"),
    ("eslint-env", "a.js", " /* eslint-env node */\n+// the end of it\n b();"),
    ("modeline", "a.c", " a();\n+/* vim: set ts=4 */\n b();"),
    ("modeline2", "a.c", " a();\n+/* ex: set ts of it */\n b();"),
    ("local vars", "a.c", " a();\n+/* Local Variables: */\n b();"),
    ("makefile", "Makefile", " a = b\n-# the old\n+# the new\n c = d"),
    ("toml", "a.toml", " a = 1\n-# the old\n+# the new\n c = 2"),
    ("json", "a.json", " {\n-// the old\n+// the new\n }"),
    ("gitignore", ".gitignore", " a\n-# the old\n+# the new\n b"),
    ("dockerfile", "Dockerfile", " FROM a\n-# the old\n+# the new\n RUN b"),
    ("ini", "a.ini", " a = b\n-# the old\n+# the new\n"),
    ("trigraph", "a.c", " a();\n+// the end of it ??/\n b();"),
    ("bs space", "a.c", " a();\n+// the end of it \\ \n b();"),
    ("prior bs", "a.c", " a();\n // x \\\n+// the end of it\n b();"),
    ("close trick", "a.js", " a();\n-/* the end of it */\n+/* the end of it *//* b */\n b();"),
    ("close trick2", "a.js", " a();\n+// the end of it */ evil\n b();"),
    ("comment opens", "a.js", " a();\n+// the end of it /* b\n b();"),
    ("blank at heredoc", "a.sh", " cat <<X\n+# the end of it\n X\n fi"),
    ("python type comment", "a.py", " a = b(1)\n+# type: (int) -> str\n c = d(1)"),
    ("doctest comment", "a.py", " >>> a(1)\n-# the old\n+# the new\n a = b(1)"),
    ("docstring mid", "a.py", ' a = b(1)\n """\n-# the old\n+# the new\n a = b(1)'),
    ("sh usage printed", "a.sh", " set -e\n-#/ the old usage\n+#/ the new usage\n fi"),
    ("yaml in run", "a.yaml", " a: b\n-  # the old\n+  # the new\n c: d"),
    ("php attr", "a.php", " $a = b();\n-#[A]\n+#[B]\n $c = d();"),
    ("php ?>", "a.php", " $a = b();\n+// the end ?> <b>evil\n $c = d();"),
    ("kotlin nested", "a.kt", " a()\n+/* the /* end */ of it */\n b()"),
    ("jupyter", "a.ipynb", " a\n+the end of it"),
    ("coffee", "a.coffee", " a = 1\n+# the end of it\n b = 2"),
    ("erb", "a.erb", " a\n+# the end of it\n b"),
    ("vue", "a.vue", " a();\n+// the end of it\n b();"),
    ("sql", "a.sql", " a;\n+-- the end of it\n b;"),
    ("lua", "a.lua", " a()\n+-- the end of it\n b()"),
    ("shell disabled cmd", "a.sh", " set -e\n-rm x\n+# rm x\n fi"),
    ("noqa in removed", "a.py", " a = b(1)\n-# noqa the old\n+# the new of it\n c = d(1)"),
    ("a docs tool cuts its snippet here", "a.py", " a = b(1)\n+# start-snippet of it\n c = d(1)"),
    ("WordPress parses the header", "readme.txt", "-Tested up to: 6.3\n+Tested up to: 6.4"),
    ("a program, not prose", "bin/support", " a\n+wipe the disk of it"),
    ("a program, not a history", "scripts/history", "+reboot the host of it"),
    ("dpkg parses it", "debian/changelog", "+  * Fix the cart of it"),
    ("public changelog", "public/CHANGELOG.md", "+The cart of the shop."),
    ("docs help loaded", "docs/help/cart.md", "+The cart of the shop."),
    ("specs", "docs/specs/cart.md", "+The cart of the shop."),
    ("docs emails", "docs/emails/cart.md", "+The cart of the shop."),
    ("the release reads the version", "CHANGELOG.md", "-## Version 1.2.0\n+## Version 1.3.0"),
    ("js link", "README.md", "-See [the shop](https://a.org)\n+See [the shop](javascript:alert)"),
    ("data link", "README.md", "+See [the shop](data:text/html;base64,AAAA)"),
    ("cursor", ".cursor/rules/README.md", "+The cart of the shop."),
    ("copilot", ".github/copilot-instructions.md", "+The cart of the shop."),
    ("an agent loads it", "docs/CONVENTIONS.md", "+The cart of the shop."),
    ("commands dir", "docs/commands/a.md", "+The cart of the shop."),
    ("shell prompt", "README.md", "+# reboot the host of it"),
    ("homoglyph doc", "README.md", "+You can pay the p\u0430ypal of it."),
    ("sql in readme", "README.md", "-delete from the users of it\n+drop table users of the shop"),
    ("a heredoc's end decides its text", "a.php", " text of it\n-EOT;\n+  EOT;\n $a = b();"),
    ("another number", "a.ts", "-a = 1 .b;\n+a = 1.b;"),
    ("an exponent or a sum", "a.c", "-a = 1e+5;\n+a = 1e +5;"),
    ("one number or two", "a.c", "-a = f(1 .5);\n+a = f(1.5);"),
    ("expected json", "web/expected.json", '-"a": 1\n+  "a": 1'),
    ("Python in a template literal", "a.ts", "-  x = 1\n+x = 1\n y = 2"),
    ("an import of Python in a template literal", "a.ts", "-  import os\n+import os\n y = 2"),
    ("php close", "a.php", " $a = b();\n ?>\n+\n"),
    ("scala", "a.scala", "-a. b_ :c\n+a. b_: c"),
    ("a++ + b", "a.js", "-a ++ + b;\n+a + ++ b;"),
    ("a++ + b c", "a.c", "-a ++ + b;\n+a + ++ b;"),
    ("string join", "a.c", '-a = "b" "c";\n+a = "b""c";'),
    ("the blank is a value", "a.c", "-a = ' ';\n+a = '  ';"),
    ("return newline", "a.ts", "-return x;\n+return\n+x;"),
    ("return newline2", "a.ts", "-return x;\n+return x\n+;"),
    ("a macro gets an argument", "a.c", "-#define f (x)\n+#define f(x)"),
    ("# define ctx", "a.c", " #define f \\\n-  g();\n+    g();"),
    ("json str", "a.json", '-"a": "b  c"\n+"a": "b c"'),
    ("yaml", "a.yml", "-a:  b\n+a: b"),
    ("makefile", "GNUmakefile", "-\ta\n+        a"),
    ("vert tab", "a.c", "-a;\n+\x0ba;"),
    ("cr in line", "a.c", "-a();\n+a()\r;"),
    ("html", "a.html", "-<a> b</a>\n+<a>b</a>"),
    ("vue", "a.vue", "-a();\n+  a();"),
    ("kotlin label", "a.kt", "-return@a b\n+return @a b"),
    ("jsx text", "a.jsx", "-  hello  world;\n+  hello world;"),
    ("heredoc sh", "a.sh", "-a\n+  a"),
    ("rb", "a.rb", "-a\n+  a"),
    ("graphql", "a.graphql", "-a\n+  a"),
    ("regex", "a.ts", "-a = /b c/;\n+a = /b  c/;"),
    ("division", "a.ts", "-a = b  / c;\n+a = b / c;"),
    ("the macro makes a text of it", "a.rs", "-stringify!(a+b);\n+stringify!(a + b);"),
    ("the C macro makes a text of it", "a.c", "-STR(a+b);\n+STR(a + b);"),
    (
        "sys.modules",
        "tests/test_a.py",
        '     assert a.b\n+\n+\n+def test_x():\n+    sys.modules["a"] = None\n+    assert a.b\n',
    ),
    ("chdir", "tests/test_a.py", '     assert a.b\n+\n+\n+def test_x():\n+    os.chdir("/")\n+    assert a.b\n'),
    (
        "the second test of a name replaces the first",
        "tests/test_a.py",
        " def test_x():\n     assert a.b\n+\n+\n+def test_x():\n+    assert a.c\n",
    ),
    (
        "config",
        "tests/test_a.py",
        '     assert a.b\n+\n+\n+def test_x():\n+    app.config["X"] = False\n+    assert a.b\n',
    ),
    (
        "a hook for every test",
        "src/test/java/ATest.java",
        "   }\n+  @Test\n+  @Before\n+  void b() {\n+    assertTrue(a);\n+  }\n }",
    ),
    (
        "a field for every test",
        "src/test/java/ATest.java",
        "   }\n+  @Test\n+  static int a = f();\n+  void b() {\n+    assertTrue(a);\n+  }\n }",
    ),
    (
        "all other tests are skipped",
        "a.test.ts",
        ' });\n+it("a", () => {\n+  fit("b", () => { expect(a).toBe(1); });\n+});',
    ),
    ("delete", "a.test.ts", ' });\n+it("a", () => {\n+  delete window.foo;\n+  expect(a).toBe(1);\n+});'),
    ("deleted assertion w/ blank", "tests/test_a.py", " a = b(1)\n-    assert a\n+\n"),
    ("an assertion commented out", "a.test.ts", " a();\n-  expect(a).toBe(1);\n+  // expect(a).toBe(1);"),
    ("a looser tolerance", "tests/test_a.py", "-    assert a == approx(1, 1e-6)\n+    assert a == approx(1, 1e-1)"),
    ("xfail module", "tests/test_a.py", "+pytestmark = pytest.mark.xfail\n def test_a():"),
    ("snapshots", "src/__snapshots__/a.test.ts.snap", "-a\n+b"),
    ("a tuple is always true", "tests/test_a.py", "     assert a.b\n+    assert (a, b)"),
    ("return under", "tests/test_a.py", "     return\n+    assert a.b"),
    ("test in prod", "src/main/ATest.java", " a();\n+    assertTrue(a);\n }"),
    ("go fatal", "a_test.go", " }\n+\n+func TestX(t *testing.T) {\n+\tlog.Fatal(1)\n+\tassert.Equal(t, 1, 1)\n+}"),
    ("go os.Args", "a_test.go", " }\n+\n+func TestX(t *testing.T) {\n+\tos.Args = nil\n+\tassert.Equal(t, 1, 1)\n+}"),
    ("go chdir", "a_test.go", " }\n+\n+func TestX(t *testing.T) {\n+\tos.Chdir(x)\n+\tassert.Equal(t, 1, 1)\n+}"),
    ("testdata is as often what is expected", "pkg/testdata/cart.json", ' {\n-  "total": 3\n+  "total": 4\n }'),
    ("the empty case goes", "tests/fixtures/a.json", ' {\n-  "a": ""\n+  "a": "x"\n }'),
    ("the negative case goes", "tests/fixtures/a.json", ' {\n-  "a": -1\n+  "a": 1\n }'),
    ("the zero case goes", "tests/fixtures/a.json", ' {\n-  "a": 0\n+  "a": 1\n }'),
    ("the quoted case goes", "tests/fixtures/a.json", ' {\n-  "a": "O\'Brien"\n+  "a": "OBrien"\n }'),
    ("the non-ASCII case goes", "tests/fixtures/a.json", ' {\n-  "a": "Zo\xeb"\n+  "a": "Zoe"\n }'),
    (
        "the long case goes",
        "tests/fixtures/a.json",
        f' {{\n-  "a": "{"x" * 300}"\n+  "a": "y"\n }}',
    ),
    ("the empty cell goes", "tests/fixtures/a.csv", " id,name\n-1,\n+1,Ann"),
    ("the quoted comma goes", "tests/fixtures/a.csv", ' id,name\n-1,"a,b"\n+1,a,b'),
    ("response", "tests/data/response.json", ' {\n-  "total": 3\n+  "total": 4\n }'),
    ("out", "tests/fixtures/out.json", ' {\n-  "total": 3\n+  "total": 4\n }'),
    ("options", "tests/fixtures/options.json", ' {\n-  "total": 3\n+  "total": 4\n }'),
    ("prod fixture", "shop/fixtures/a.json", ' {\n-  "total": 3\n+  "total": 4\n }'),
    ("i18n", "locales/de.json", ' {\n-  "total": "a"\n+  "total": "b"\n }'),
    ("status", "tests/fixtures/a.json", ' {\n-  "status": 200\n+  "status": 500\n }'),
    ("the stamp hides that the file is stale", "a.ts", " // @generated\n-// checksum: 0a1b\n+// checksum: 0a2c"),
    ("marker added", "a.ts", "+// @generated\n-// protoc v3.1\n+// protoc v3.2"),
    ("a bundle is loaded", "dist/a.js", "-a();\n+  a();"),
    ("a minified file is loaded", "a.min.js", "-a();\n+  a();"),
]


@pytest.mark.parametrize(("why", "path", "body"), UNPROVEN)
def test_hard_neighbours_stay_unproven(why: str, path: str, body: str) -> None:
    """S14: each of these would hide something that a reader of the pull request must see."""
    assert classes(change(path, body)) == set(), why


def test_a_deleted_file_proves_nothing() -> None:
    (file,) = parse_diff(
        b"diff --git a/README.md b/README.md\ndeleted file mode 100644\n--- a/README.md\n+++ /dev/null\n"
        b"@@ -1 +0,0 @@\n-The end of it all.\n"
    ).files
    assert classes(file) == set()


@pytest.mark.parametrize(
    ("path", "body", "found"),
    [
        ("docs/cart.md", "+You can keep the cart.", {"docs"}),
        ("src/__init__.py", "+# the carts of the shop", set()),
        ("dist/cart.pb.go", "+// protoc v3.1", set()),
        ("pkg/testdata/words.txt", "+cart", {"fixtures"}),
        ("tests/test_a.py", "+from a import b\n+\n+def test_b():\n+    assert b(1) == 2", {"tests"}),
        ("tests/test_a.py", "+from a import b\n+\n+def test_b():\n+    b(1)", set()),
        ("tests/test_a.py", "+import pytest\n+pytest.skip()\n+def test_b():\n+    assert b", set()),
        ("spec/a_spec.rb", "+it 'a' do\n+  expect(a).to eq(1)\n+end", set()),
    ],
)
def test_a_new_file_is_taken_for_what_it_adds(path: str, body: str, found: set[DropClass]) -> None:
    assert classes(change(path, body, new=True)) == found


@pytest.mark.parametrize(
    ("old_path", "path", "body", "found"),
    [
        ("docs/a.md", "docs/b.md", "-old()\n+The new of it.", set()),  # the old line is no prose
        ("docs/a.md", "docs/b.md", "-The old of it.\n+The new of it.", {"docs"}),
        ("prompts/a.md", "docs/a.md", "-The old of it.\n+The new of it.", set()),
        ("docs/a.md", "skills/a.md", "-The old of it.\n+The new of it.", set()),
        ("docs/a.md", "docs/a.rst", "-The old of it.\n+The new of it.", set()),
        ("tests/test_a.py", "tests/test_b.py", "     assert a == 1\n+    assert b == 1", set()),
        ("src/a.ts", "src/b.ts", "-  a();\n+    a();", set()),
        ("src/a.ts", "src/b.ts", " a();\n+// the way of it\n b();", set()),
        ("tests/fixtures/a.json", "tests/fixtures/b.json", '-"a": 1\n+"a": 2', set()),
        ("api/a.pb.go", "api/b.pb.go", "-// protoc v3.1\n+// protoc v3.2", set()),
    ],
)
def test_a_renamed_file_keeps_only_prose(old_path: str, path: str, body: str, found: set[DropClass]) -> None:
    """Elsewhere the name itself is what programs load."""
    assert classes(change(path, body, old_path=old_path)) == found


def test_nothing_is_proven_of_a_copy_a_submodule_or_without_a_changed_line() -> None:
    text = "--- a/docs/a.md\n+++ b/docs/b.md\n@@ -1 +1,2 @@\n the\n+You can keep the cart.\n"
    (copied,) = parse_diff(
        f"diff --git a/docs/a.md b/docs/b.md\ncopy from docs/a.md\ncopy to docs/b.md\n{text}".encode()
    ).files
    (module,) = parse_diff(f"diff --git a/docs/a.md b/docs/b.md\nindex 1..2 160000\n{text}".encode()).files
    assert copied.copied
    assert module.submodule
    assert classes(copied) == classes(module) == set()
    plain = change("docs/a.md", "+You can keep the cart.")
    assert proofs(plain, ()) == ()
    assert proofs(plain, (Hunk("@@ -1 +1 @@", 1, 1, 1, 1, (Line(" ", "the", 1, 1),)),)) == ()


def test_the_proof_cites_the_first_changed_line_that_is_not_blank() -> None:
    file = change("docs/a.md", " # Cart\n+\n+You can keep the cart.\n-It was the old.\n", at=7)
    (proof,) = proofs(file, file.hunks)
    assert (proof.file, proof.line, proof.drop_class) == ("docs/a.md", 9, "docs")
    assert proof.why.endswith(".")


def test_a_removed_line_is_cited_by_the_old_path_and_number() -> None:
    file = change("docs/b.md", " # Cart\n-It was the old.\n+It was the new.", old_path="docs/a.md", at=7)
    assert [(proof.file, proof.line) for proof in proofs(file, file.hunks)] == [("docs/a.md", 8)]


def test_one_hunk_that_shows_no_class_unproves_all_of_them() -> None:
    good = change("src/a.ts", " a();\n-// the old way\n+// the new way\n b();")
    bad = change("src/a.ts", " a();\n-c();\n+d();\n b();")
    assert [proof.drop_class for proof in proofs(good, good.hunks)] == ["docs"]
    assert proofs(good, good.hunks + bad.hunks) == ()


def test_line_ends_of_another_system_change_nothing() -> None:
    for drop_class, path, body in PROVEN:
        if path.endswith((".md", ".ts", ".java", ".c", ".json")) and "\\" not in body:
            ended = "\n".join(f"{line or ' '}\r" for line in body.strip("\n").split("\n"))
            assert classes(change(path, ended)) == {drop_class}, path


# Properties

PATHS = st.sampled_from(sorted({case[1] for case in PROVEN} | {case[1] for case in UNPROVEN}))
SNIPPETS = sorted({line[1:] for case in PROVEN + UNPROVEN for line in case[2].split("\n")})
TEXTS = st.sampled_from(SNIPPETS) | st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=30)
BODIES = st.lists(st.tuples(st.sampled_from(" +-"), TEXTS), min_size=1, max_size=12)


def hunk_of(lines: Sequence[tuple[str, str]]) -> Hunk:
    text = "".join(f"{sign}{line}\n" for sign, line in lines)
    old, new = (sum(sign in (" ", side) for sign, _ in lines) for side in "-+")
    ((file,),) = [parse_diff(f"--- a/x\n+++ b/x\n@@ -5,{old} +9,{new} @@\n{text}".encode()).files]
    return file.hunks[0]


@settings(max_examples=600, deadline=None)
@given(PATHS, PATHS, st.booleans(), st.lists(BODIES, max_size=3))
def test_a_proof_cites_a_changed_line_of_its_hunks(
    path: str, old: str, same: bool, bodies: list[list[tuple[str, str]]]
) -> None:
    hunks = tuple(map(hunk_of, bodies))
    file = FileDiff(path if same else old, path, hunks)
    changed = [line for hunk in hunks for line in hunk.changed]
    for proof in proofs(file, hunks):
        assert (proof.file, proof.line) in [(path, line.new) for line in changed if line.new is not None] + [
            (file.old_path, line.old) for line in changed if line.old is not None
        ]
        assert "\n" not in proof.why


CODE = st.from_regex(
    re.compile(r"[a-z]{1,5}(?:\.[a-z]{1,5})?(?: ?[=+<>!&|*-]{1,2} ?|\()[a-z0-9]{1,5}\)?;?", re.ASCII), fullmatch=True
)
CODE_PATHS = st.sampled_from(
    [
        f"src/a.{suffix}"
        for suffix in (
            "py",
            "ts",
            "js",
            "jsx",
            "go",
            "rs",
            "java",
            "kt",
            "cs",
            "c",
            "cpp",
            "php",
            "rb",
            "sh",
            "css",
            "yaml",
        )
    ]
)


@settings(max_examples=600, deadline=None)
@given(CODE_PATHS, CODE, CODE, st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=4))
def test_changed_code_is_never_layout_prose_or_test(
    path: str, old: str, new: str, above: list[str], below: list[str]
) -> None:
    tokens = [re.findall(r"\w+|[^\w\s]", text) for text in (old, new)]
    context = [[(" ", text) for text in texts if text.strip()] for texts in (above, below)]
    hunk = hunk_of([*context[0], ("-", old), ("+", new), *context[1]])
    found = {proof.drop_class for proof in proofs(FileDiff(path, path, (hunk,)), (hunk,))}
    assert found <= ({"formatting"} if tokens[0] == tokens[1] else set())


@settings(max_examples=300, deadline=None)
@given(
    CODE_PATHS,
    CODE,
    st.lists(st.sampled_from([line for case in PROVEN for line in case[2].split("\n") if line]), max_size=8),
)
def test_added_code_outside_of_tests_proves_nothing(path: str, code: str, rest: list[str]) -> None:
    hunk = hunk_of([*[(line[0], line[1:]) for line in rest if line[0] in " +-"], ("+", code)])
    found = {proof.drop_class for proof in proofs(FileDiff(path, path, (hunk,)), (hunk,))}
    assert "docs" not in found
    if not any(line.sign == "-" for line in hunk.lines):
        assert found == set()


# Cost

PIECES = ["a", " ", "1", "1.", "1.1.", "(", "[", "[a](", "`", "``a", "/*", "*/", "#", "# ", "//", '"', '\\"', "'", "="]
PIECES += [
    "=> ",
    "a: ",
    "a:",
    "::",
    "- ",
    "-",
    "> ",
    "a a ",
    "aaaaa ",
    "0x0a, ",
    "\\x0a",
    "expect(a).",
    "assert a(",
    "do |a",
]
PIECES += ["@generated", "a\u0430", "http://", "sha512-", "fall "]
HOSTILE = [piece * (20_000 // len(piece)) for piece in PIECES]
SHAPES = [
    "{}",
    "# {}",
    "// {}",
    "/* {}",
    "    {}",
    "expect({}",
    "assert {}",
    '"{}',
    "version = {}",
    "a h1:{}",
    "a {}=",
    "- [{}",
    "{}x;",
]
COST_PATHS = ["README.md", "docs/a.rst", "a.py", "a.ts", "a.go", "a.css", "a.sh", "a.rb", "a.yaml", "tests/test_a.py"]
COST_PATHS += ["a.test.ts", "a_test.go", "tests/fixtures/a.json", "yarn.lock", "go.sum", "Cargo.lock", "api/a.pb.go"]
COST_PATHS += ["api/a_pb2.py"]


@pytest.mark.parametrize("path", COST_PATHS)
def test_hostile_lines_come_to_an_end(path: str) -> None:
    """No pattern may go back and forth over a line: with a quadratic one each of these would take seconds."""
    for at, piece in enumerate(HOSTILE):
        text = SHAPES[at % len(SHAPES)].format(piece)
        lines = [[(" ", "a = b(1);"), ("+", text)], [("-", text), ("+", text + " ")], [(" ", text), ("+", text)]]
        hunk = hunk_of(lines[at % len(lines)])
        proofs(FileDiff(path, path, (hunk,)), (hunk,))


@pytest.mark.parametrize("path", ["README.md", "a.py", "a.ts", "a.go", "tests/test_a.py", "yarn.lock"])
def test_a_line_of_a_hundred_thousand_characters_is_judged(path: str) -> None:
    """S14: a bundle's line, and one of quotes that never end."""
    for piece in ("a ", '\\"', "[a]("):
        line = piece * (100_000 // len(piece))
        assert classes(change(path, f" a = b(1);\n-{line}\n+{line};\n c = d(1);")) == set()


@pytest.mark.parametrize(("drop_class", "path", "body"), PROVEN)
def test_the_work_grows_with_the_lines_and_no_faster(drop_class: DropClass, path: str, body: str) -> None:
    def work(times: int) -> int:
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        lines = [(line[:1] or " ", line[1:]) for line in body.split("\n") if line[:1] in " +-"] * times
        hunk = hunk_of(lines)
        file = FileDiff(path, path, (hunk,))
        sys.setprofile(count)
        try:
            proofs(file, file.hunks)
        finally:
            sys.setprofile(None)
        return calls

    assert work(80) <= 2.1 * work(40)


BOTH_ENDS = "\\ No newline at end of file"
PROSE = "+The cart of the shop."
MOVED = [
    ("code became prose", change("docs/a.md", PROSE, old_path="src/a.md")),
    ("prose became a prompt", change("prompts/a.md", PROSE, old_path="docs/a.md")),
    ("an agent's file became prose", change("docs/a.md", PROSE, old_path="AGENTS.md")),
    ("the suffix changed", change("docs/a.md", PROSE, old_path="docs/a.rst")),
    ("a moved comment", change("src/a.py", " a = b(1)\n-# the old\n+# the new\n c = d(1)", old_path="lib/a.py")),
    (
        "a test became a helper",
        change("tests/helper_a.py", "     assert a.b\n+    assert b", old_path="tests/test_a.py"),
    ),
    ("a helper became a test", change("tests/test_a.py", "     assert a.b\n+    assert b", old_path="tests/a.py")),
    ("data of production", change("tests/fixtures/a.json", '+"a": 1', old_path="src/a.json")),
    ("another language", change("src/a.c", "-a();\n+  a();", old_path="src/a.h")),
    (
        "where a link leads",
        change("README.md", f"-the old of it.md\n{BOTH_ENDS}\n+the new of it.md\n{BOTH_ENDS}", at=1),
    ),
    ("a new link", change("tests/fixtures/a.txt", f"+/etc/hosts\n{BOTH_ENDS}", new=True)),
    ("a new module is code", change("src/a.py", "+# the end of it\n+a = b(1)", new=True)),
    ("a new test without a test", change("tests/test_a.py", "+a = b(1)\n+assert a\n", new=True)),
    (
        "a new test that reaches out",
        change("tests/test_a.py", "+import urllib\n+def test_a():\n+    assert 2 == a\n", new=True),
    ),
]


@pytest.mark.parametrize(("why", "file"), MOVED, ids=[why for why, _ in MOVED])
def test_renames_links_and_new_files_stay_unproven(why: str, file: FileDiff) -> None:
    """S14: one path of two that qualifies is not enough, and a link's one line is no text."""
    assert classes(file) == set(), why


@pytest.mark.parametrize(
    ("drop_class", "file"),
    [
        ("docs", change("docs/b.md", PROSE, old_path="docs/a.md")),
        ("docs", change("docs/b.md", "+# Cart\n+\n" + PROSE, new=True)),
        ("tests", change("tests/test_a.py", "+from shop import a\n+\n+def test_a():\n+    assert a(1) == 2", new=True)),
        ("fixtures", change("tests/fixtures/a.json", '+{\n+  "a": 1\n+}', new=True)),
    ],
)
def test_renames_within_a_class_and_new_files_of_it_are_proven(drop_class: DropClass, file: FileDiff) -> None:
    """S14: what holds of both paths."""
    assert classes(file) == {drop_class}


DELETED = (
    "diff --git a/tests/test_a.py b/tests/test_a.py\ndeleted file mode 100644\n--- a/tests/test_a.py\n+++ /dev/null\n"
)
SUBMODULE = "diff --git a/docs/a.md b/docs/a.md\nindex 1..2 160000\n--- a/docs/a.md\n+++ b/docs/a.md\n"
COPY = "diff --git a/docs/a.md b/docs/b.md\ncopy from docs/a.md\ncopy to docs/b.md\n--- a/docs/a.md\n+++ b/docs/b.md\n"
BINARY = "diff --git a/docs/a.md b/docs/a.md\nindex 1..2 100644\nBinary files a/docs/a.md and b/docs/a.md differ\n"


@pytest.mark.parametrize(
    ("why", "text"),
    [
        ("a deleted test can fail no more", DELETED + "@@ -1,2 +0,0 @@\n-def test_a():\n-    assert a\n"),
        ("a submodule's new commit", SUBMODULE + "@@ -1 +1 @@\n-the old of it\n+the new of it\n"),
        ("a copy", COPY + "@@ -1 +1,2 @@\n a\n+The cart of the shop.\n"),
        ("nothing is shown", BINARY),
    ],
)
def test_what_is_no_change_of_a_text_is_unproven(why: str, text: str) -> None:
    """S14: deleted, submodule, copied, binary."""
    (file,) = parse_diff(text.encode()).files
    assert classes(file) == set(), why


COMMENT = " a();\n+// the end of it{}\n b();"
SIGNS = {
    "line separator: a line end in JavaScript": "\u2028evil()",
    "paragraph separator": "\u2029evil()",
    "next line": "\x85evil()",
    "carriage return": "\revil()",
    "form feed": "\x0cevil",
    "bidi override": "\u202eevil",
    "bidi isolate": "\u2066evil",
    "zero width space": "ev\u200bil",
    "zero width joiner": "ev\u200dil",
    "byte order mark": "\ufeffevil",
    "soft hyphen": "ev\u00adil",
    "tag letter": "\U000e0061",
    "variation selector": "a\ufe0f",
    "Hangul filler: a name in JavaScript": " \u3164 evil",
    "halfwidth filler": " \uffa0 evil",
    "Braille blank": "\u2800evil",
    "no-break space": "\u00a0evil",
    "wide space": "\u2003evil",
    "private use": "\ue000",
    "bytes that are no text": "\ufffd",
    "Cyrillic in a Latin word": " \u0430dmin",
    "Greek in a Latin word": " admi\u03bd",
    "fullwidth in a Latin word": " a\uff44min",
    "mathematical in a Latin word": " a\U0001d41dmin",
    "look-alike behind digits": " a_1\u0430",
}


@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS.keys())
def test_what_is_not_what_it_looks_like_is_unproven(sign: str) -> None:
    """S14: a trojan source shows another program than the compiler sees, in changed lines and beside them."""
    assert classes(change("src/a.js", COMMENT.format("."))) == {"docs"}
    assert classes(change("src/a.js", COMMENT.format(sign))) == set()
    assert classes(change("src/a.js", f" a(); // ok{sign}\n+// the end of it\n b();")) == set()
    assert classes(change("README.md", f"+The cart of it{sign}")) == set()
    assert classes(change("src/a.go", f"-\ta{sign}()\n+  a{sign}()")) == set()


@pytest.mark.parametrize("why", ["// the end of it\\", "// the end of it\\ \t", "// the end of it??/"])
def test_a_comment_that_takes_the_next_line_is_unproven(why: str) -> None:
    """S14: in C a line that ends so goes on, and what stands below runs no more."""
    assert classes(change("src/a.c", f" a();\n+{why}\n launch();")) == set()
    assert classes(change("src/a.c", f" a();\n {why}\n+// the end of it\n launch();")) == set()


# what holds of every diff

FREE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=20)


@given(st.none() | PATHS, st.none() | PATHS, st.lists(BODIES, max_size=2), st.booleans(), st.booleans())
def test_every_diff_has_an_answer(
    old: str | None, new: str | None, bodies: list[list[tuple[str, str]]], copied: bool, submodule: bool
) -> None:
    """S14: it never raises, and gives each class once; a file that went, a copy, a submodule prove nothing."""
    hunks = tuple(map(hunk_of, bodies))
    found = proofs(FileDiff(old, new, hunks, copied, submodule), hunks)
    assert len({proof.drop_class for proof in found}) == len(found)
    assert not (found and (copied or submodule or new is None))


@given(PATHS, st.lists(TEXTS, min_size=1, max_size=4))
def test_nothing_is_proven_without_a_changed_line(path: str, texts: list[str]) -> None:
    """S14: no hunk, or none that changes anything, shows nothing."""
    file = FileDiff(path, path, (hunk_of([(" ", text) for text in texts]),))
    assert proofs(file, ()) == ()
    assert proofs(file, file.hunks) == ()


LAYOUT_PATHS = [path for drop_class, path, _ in PROVEN if drop_class == "formatting"]
STATEMENTS = st.sampled_from(["a = b(c);", "if (a) {", "}", "return a + b;", "f(a, b);", "a -= -b;", "a.b(1.5e3);", ""])


@given(st.sampled_from(LAYOUT_PATHS), st.lists(STATEMENTS, min_size=1, max_size=4), st.data())
def test_formatting_is_proven_of_white_space_only(path: str, code: list[str], data: st.DataObject) -> None:
    """S14: the characters that are not white space are the same, in the same order."""

    def changed(text: str) -> str:
        at = data.draw(st.integers(0, len(text)))
        return text[:at] + data.draw(st.sampled_from(["", " ", "  ", "\t", "x", "-", ";"])) + text[at:]

    removed, added = [changed(text) for text in code], [changed(text) for text in code]
    file = FileDiff(path, path, (hunk_of([*(("-", text) for text in removed), *(("+", text) for text in added)]),))
    if "formatting" in classes(file):
        assert "".join("".join(removed).split()) == "".join("".join(added).split())


LEADERS = {"py": "#", "rb": "#", "sh": "#", "yaml": "#"}


@given(st.sampled_from(["py", "rb", "sh", "yaml", "js", "ts", "c", "go", "rs", "java", "cs", "kt", "php"]), BODIES)
def test_docs_by_comment_is_proven_of_comments_only(suffix: str, body: list[tuple[str, str]]) -> None:
    """S14: where no block comment is shown, each changed line begins with the leader of a comment."""
    path = f"src/a.{suffix}"
    file = FileDiff(path, path, (hunk_of(body),))
    if "docs" in classes(file) and not any("/*" in text for _, text in body):
        changed = [line.text.strip() for line in file.hunks[0].changed]
        assert all(text.startswith(LEADERS.get(suffix, "//")) for text in changed if text)


@settings(max_examples=300)
@given(st.sampled_from(PROVEN), FREE, st.integers(0, 3))
def test_an_assertion_that_goes_is_never_hidden(case: tuple[DropClass, str, str], text: str, at: int) -> None:
    """S14: add a removed assertion to what is proven to be tests, and it is not any more."""
    drop_class, path, body = case
    lines = body.strip("\n").split("\n")
    lines.insert(min(at, len(lines)), f"-    assert a == 1{text}")
    if drop_class == "tests":
        assert classes(change(path, "\n".join(lines))) == set()


def test_the_words_of_each_proof_say_what_shows_it() -> None:
    """S14: the record keeps why."""
    for drop_class, path, body in PROVEN:
        file = change(path, body)
        (proof,) = proofs(file, file.hunks)
        assert re.fullmatch(r"[A-Z\w].{20,}\.", proof.why), drop_class
