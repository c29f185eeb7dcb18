// What ANTLR's runtime refers to and no parser of ours uses: patterns of trees can be found by paths, and the lexer of these paths reads
// a grammar of its own before main(). With these in its place the linker leaves it out.
#include <antlr4-runtime.h>
#include <tree/xpath/XPath.h>
#include <tree/xpath/XPathElement.h>

namespace antlr4::tree::xpath {

XPath::XPath(Parser* parser, const std::string& path) : _path(path), _parser(parser) {}
std::vector<std::unique_ptr<XPathElement>> XPath::split(const std::string&) { return {}; }
std::vector<ParseTree*> XPath::evaluate(ParseTree*) { return {}; }
std::unique_ptr<XPathElement> XPath::getXPathElement(Token*, bool) { return nullptr; }

}  // namespace antlr4::tree::xpath
