"""Rules of style that clang-format has no option for. Each answers (path, line, words) of its faults."""
import re

import source_text
import statements

CPP = (".h", ".hpp", ".cc", ".cpp", ".c")
HEADERS = (".h", ".hpp")
# Folders that are still to be swept for a rule; each list is to become empty.
JOINED_LEFT = ()
LETTERS_LEFT = ()
NAMES_LEFT = ()

# Parameters of one letter that need no word, and the share of others that headers may have.
PLAIN_LETTERS, MOST_LETTERS = "xynik", 0.08
# Published headers, and the plugin ABI with the text of its function types.
FROZEN = re.compile(r"tests/abi/|sdk/include/ge/ge_plugin\w*\.h$")


def comma_statements(tree):
    """Expression statements joined by commas; each gets a semicolon, and braces where there are several."""
    for path in tree.named(*CPP):
        text = tree.text(path)
        if path.startswith(JOINED_LEFT) or "," not in text:
            continue
        code = statements.Code(text)
        for joined in statements.Statements(code).joined:
            line = text.count("\n", 0, code.tokens[joined.begin].start) + 1
            yield path, line, "statements joined by commas; write each with a semicolon of its own"


def header_using(tree):
    """`using namespace` in a header, which every includer would get."""
    for path in tree.named(*HEADERS):
        code = source_text.code_of(tree.text(path))
        for match in re.finditer(r"\busing\s+namespace\b", code):
            yield path, code.count("\n", 0, match.start()) + 1, "using namespace in a header; nest the namespace or qualify"


def parameter_letters(tree):
    """Parameters of one letter in headers: at most 8 in 100, x, y, n, i and k apart."""
    count, first, letters = 0, None, 0
    for path in tree.named(*HEADERS):
        if path.startswith(LETTERS_LEFT) or FROZEN.match(path):
            continue
        text = tree.text(path)
        code = statements.Code(text)
        for function in statements.functions(code):
            for name in (name for name, _ in function.parameters if name is not None):
                count += 1
                if len(code.texts[name]) == 1 and code.texts[name] not in PLAIN_LETTERS:
                    letters += 1
                    first = first or (path, text.count("\n", 0, code.tokens[name].start) + 1)
    if letters > MOST_LETTERS * count:
        yield (*first, f"{letters} of {count} parameters in headers are one letter, at most "
                       f"{MOST_LETTERS:.0%}; name them after what they are")


# Names that were given up, and what stands in their place: a word of the field, or one meaning for one word.
OLD_NAMES = {
    "FlowPlace": "FlowPoint", "MakeOwnPlaces": "MakeGuardedBlocks", "IsCodedWeight": "IsQuantizedWeight",
    "CodedWeightsOf": "QuantizedWeightsOf", "KinOf": "LooserKeyOf", "of_kin": "looser", "kin_key_": "looser_key_",
    "Forest": "TreeEnsemble", "ForestPlan": "TreeEnsemblePlan", "WeightLines": "LinearModel", "Turns": "FairSemaphore",
    "Pace": "PriorScale", "Moments": "ProgramPoints", "GraphLoan": "ReshapeInputs", "PlainlyWhole": "WholeNodes",
}
OLD_NAME = re.compile(r"(?<![\w.])(?:" + "|".join(OLD_NAMES) + r")\b")
# File names that said the layer and not the subject, or hid a test among sources.
OLD_FILE = re.compile(r"(?:^|/)(?:emit_|parse_|loops_|order_loops|index_loops|code_groups|coded_weights|stretches|in_windows|"
                      r"graph_loan|plainly_whole|turns|pace|moments|sweeps|loop_trial|isa_sets|direct_sums|test_model|"
                      r"pass_graph)[a-z_]*(?<!_testing)(?<!_test)\.(?:h|cc)$")


def old_names(tree):
    """Names that the code had before; OLD_NAMES says which stand in their place."""
    for path in tree.named(*CPP):
        if path.startswith(NAMES_LEFT):
            continue
        if OLD_FILE.search(path):
            yield path, 0, "a file name of before; name it after its subject"
        code = source_text.code_of(tree.text(path))
        for match in OLD_NAME.finditer(code):
            yield path, code.count("\n", 0, match.start()) + 1, f"{match[0]} is {OLD_NAMES[match[0]]} now"


# A vendor's name or the prefix of its functions, at the begin of a word or of a part in CamelCase.
VENDOR = re.compile(r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))(?:(?i:cuda|nvidia|nvcc|cudnn|cublas|rocm|(?:hip|acl|amd)(?![a-z])"
                    r"|ascend(?!ing|s|ed|an|er))|cu[A-Z]|hip[A-Z]|acl(?:rt|nn|op)?[A-Z])\w*")
# What every asynchronous device shares.
NO_VENDOR = "plugins/device/"


def vendor_names(tree):
    """No vendor's name in plugins/device: what one vendor needs stands in its engine."""
    for path in tree.files:
        if path.startswith(NO_VENDOR):
            text = tree.text(path)
            for match in VENDOR.finditer(path + "\n" + text):
                line = (path + "\n" + text).count("\n", 0, match.start())
                yield path, line, f"{match[0]}: a vendor's name; say what every device has, or move it to that engine"


RULES = {"comma-statements": comma_statements, "header-using": header_using, "parameter-letters": parameter_letters,
         "old-names": old_names, "vendor-names": vendor_names}
