// Finds the translator calls of TypeScript sources: which texts reach people, and where. Reads a JSON list of paths from stdin
// and writes one list for each: {line, method, texts}, where a text that is not written out is null.
import { readFileSync } from 'node:fs';

import ts from 'typescript';

// How many leading arguments of each method are texts.
const TEXTS = { __: 1, _n: 2, _p: 2, _np: 3 };

function textOf(argument) {
  if (argument === undefined) {
    return null;
  }
  if (ts.isStringLiteralLike(argument)) {
    return argument.text;
  }
  if (
    ts.isBinaryExpression(argument) &&
    argument.operatorToken.kind === ts.SyntaxKind.PlusToken
  ) {
    const [left, right] = [textOf(argument.left), textOf(argument.right)];
    return left === null || right === null ? null : left + right;
  }
  return null;
}

function callsIn(path) {
  const source = ts.createSourceFile(
    path,
    readFileSync(path, 'utf8'),
    ts.ScriptTarget.Latest
  );
  const calls = [];
  const visit = node => {
    if (
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      Object.hasOwn(TEXTS, node.expression.name.text)
    ) {
      const method = node.expression.name;
      const start = method.getStart(source);
      calls.push({
        line: source.getLineAndCharacterOfPosition(start).line + 1,
        method: method.text,
        texts: Array.from({ length: TEXTS[method.text] }, (_, index) =>
          textOf(node.arguments[index])
        )
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return calls;
}

const paths = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(paths.map(callsIn)));
