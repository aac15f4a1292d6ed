import { type ErrorKind, KIND_STATUS } from '../../src/contracts/common/api-contract.js';
import { KIND_HELP, REASONS } from '../../src/contracts/common/error-help.js';
import { type ErrorHelp, RULES } from '../../src/contracts/common/rules.js';
import { PUBLICATIONS } from '../../src/admin/documents/publications.js';
import type { Generator } from './generator.js';

const INTRODUCTION = `# Errors

<!-- Generated from src/contracts: \`npm run generate -- errors\` writes it. -->

Every failure has the same body: \`error.code\` is one of a closed set, \`error.message\` is a sentence, and \`error.details\` may have the members
of this page. The list of continuous recordings has no \`details\`: its message names the fields. Where the operator has set \`PUBLIC_URL\`,
\`error.details.help\` is the address of the line of this page. Every response has \`X-Request-Id\`: quote it when you ask for help.
`;

const codes = [...new Set(PUBLICATIONS.flatMap(({ api }) => api.codes))].sort();

/** The interfaces in which a kind of failure has this code. */
const interfacesOf = (code: string, kind: ErrorKind) =>
  PUBLICATIONS.filter(({ api }) => (api.errors as Partial<Record<ErrorKind, string>>)[kind] === code).map(
    ({ api }) => api.name,
  );

function codeTable(code: string): string {
  const rows = (Object.keys(KIND_STATUS) as ErrorKind[]).flatMap((kind) => {
    const names = interfacesOf(code, kind);
    const { cause, remedy } = KIND_HELP[kind];
    const which = names.length === PUBLICATIONS.length ? 'all' : names.join(', ');
    return names.length === 0 ? [] : [`| ${KIND_STATUS[kind]} | ${which} | ${cause} | ${remedy} |`];
  });
  return [
    `\n### \`${code}\`\n`,
    '| status | interfaces | cause | what to do |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function helpTable(title: string, name: string, entries: Readonly<Record<string, ErrorHelp>>): string {
  const rows = Object.entries(entries).map(([key, { cause, remedy }]) => `| \`${key}\` | ${cause} | ${remedy} |`);
  return [`\n${title}\n`, `| ${name} | cause | what to do |`, '| --- | --- | --- |', ...rows, ''].join('\n');
}

const sorted = (entries: Readonly<Record<string, ErrorHelp>>) =>
  Object.fromEntries(Object.entries(entries).sort(([one], [other]) => (one < other ? -1 : 1)));

const errorsPage = () =>
  [
    INTRODUCTION,
    '\n## Codes\n',
    ...codes.map(codeTable),
    helpTable('## Reasons\n\n`details.reason` of a 409 or 422:', 'reason', REASONS),
    helpTable(
      '## Rules\n\n`details.violations[].rule`, beside the `path` of the field and a `message`:',
      'rule',
      sorted(RULES),
    ),
  ].join('');

/** The page of every code, reason and rule. */
export const errors: Generator = () => ({ 'docs/errors.md': errorsPage() });
