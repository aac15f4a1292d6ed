/** Rules of this code alone, for oxlint: where SQL stands, and how a DTO is imported. */
const STATEMENT = /\bSELECT\b[^;]*\bFROM\b|\bINSERT INTO\b|\bDELETE FROM\b|\bUPDATE [^;\n]+\bSET\b/;

const refuse = (context, node, message) => context.report({ node, message });

const sqlInRepositories = {
  create(context) {
    const check = (node, text) => {
      if (STATEMENT.test(text)) refuse(context, node, 'The SQL of tables stands in a *.repository.ts or *.sql.ts.');
    };
    return {
      Literal: (node) => typeof node.value === 'string' && check(node, node.value),
      TemplateElement: (node) => check(node, node.value.raw),
    };
  },
};

const dtoAsValue = {
  create: (context) => ({
    ImportDeclaration(node) {
      if (!node.source.value.endsWith('.dto.js')) return;
      if ([node, ...node.specifiers].some(({ importKind }) => importKind === 'type'))
        refuse(context, node, 'A type import of a DTO switches off the validation of the body.');
    },
  }),
};

export default {
  meta: { name: 'haulbridge' },
  rules: { 'sql-in-repositories': sqlInRepositories, 'dto-as-value': dtoAsValue },
};
