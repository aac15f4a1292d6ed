/**
 * Finds words that the project does not use (plain technical English; one name for one thing). Run it for a part of the
 * repository with `npm run language -- src/vision test/vision`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Matched against text in lower case in which `camelCase` and `snake_case` are split into words. */
const WORDS: readonly (readonly [pattern: string, use: string])[] = [
  ['told|tells?|telling', 'report, return, log, show'],
  ['heard|said', 'received, returned, reported'],
  ['bring|brings|bringing|brought', 'add, cause, lead to'],
  ['films?', 'recording, clip, video, MP4'],
  ['mend|mends|mended|mending', 'fix; credentials changed'],
  ['whoever|whomever|whosoever', 'name the subject'],
  ['heeds?|heeded', 'follow, respect'],
  ['la(?:y|ys|id|ying) (?:it |them |this |that |one )?by', 'defer, retry later'],
  ['patience', 'timeout'],
  ['fruitless', 'no progress'],
  ['breathers?', 'yield to the event loop'],
  ['learnt', 'poll result; learned'],
  ['go(?:es)? along|asks? alone', 'joins the batch poll; polled on its own'],
  ['disbelieve[sd]?|strangers?|strange', 'mismatch'],
  ["nobody's", 'unknown, unowned'],
  ['remarks?|remarked|doubts?|doubted', 'issue, flag'],
  ['judge[ds]?|judging|judgements?', 'decide, check; change summary'],
  ['keepers?', 'inventory'],
  ['settled? (?:env|answers?)', 'resolved configuration; cached response'],
  ['ticket book', 'batch state'],
  ['pace[ds]?', 'adaptive batch size; rate; transfer watchdog'],
  ['lend|lends|lent|lending', 'run exclusively, run shared'],
  ['in one go', 'pipelined'],
  ['amiss', 'wrong'],
  ['anew', 'again'],
  ['of those that|as long as it is one|as may be', 'write two sentences'],
  ['memos?', 'resume metadata'],
  ['(?:take|takes|taken|taking|took) up', 'resume, start'],
  ['withdrawn', 'changed or deleted'],
  ['varied', 'with jitter'],
  ['own word', 'retry-after override'],
  ['made up', 'generated'],
  ['rooms|(?:own|each|every|other|partner) room', 'module, folder'],
  ['forbidden moves?', 'invalid transition'],
  ['box walk', 'box validator'],
  ['left alone', 'circuit open'],
  ['patiently|lest|hark|thereof|therein|wherein|hither', 'plain words'],
];

/** Matched against the text as it is written. */
const PATTERNS: readonly (readonly [pattern: string, use: string])[] = [
  [
    String.raw`(?:/\*\*?|//|^\s*\*|\.) (?:What|Whatever|Who|Such) (?:is|are|was|were|has|have|had|a|an|it|they|the)\b`,
    'subject, verb, object',
  ],
  [String.raw`\b(?:MOST|LONGEST|LARGEST|LEAST|SHORTEST|SMALLEST|FEWEST)_[A-Z]`, 'MAX_, MIN_'],
  [String.raw`\bPlaces\b`, 'Semaphore'],
  [String.raw`\bAsking\b`, 'PollContext'],
];

const WORD = new RegExp(
  String.raw`(?<![a-z]|[a-z]')(?:${WORDS.map(([pattern]) => `(${pattern})`).join('|')})(?![a-z])`,
  'g',
);
const PATTERN = new RegExp(PATTERNS.map(([pattern]) => `(${pattern})`).join('|'), 'g');

export interface Finding {
  readonly path: string;
  /** 0: the name of the file. */
  readonly line: number;
  readonly found: string;
  readonly use: string;
}

/** The words of a file, its name included, that the project does not use. */
export function findIdiom(path: string, text: string): Finding[] {
  return [path, ...text.split('\n')].flatMap((content, line) => [
    ...matches(content, PATTERN, PATTERNS).map((match) => ({ path, line, ...match })),
    ...matches(asWords(content), WORD, WORDS).map((match) => ({ path, line, ...match })),
  ]);
}

function matches(text: string, pattern: RegExp, table: typeof WORDS): Pick<Finding, 'found' | 'use'>[] {
  return [...text.matchAll(pattern)].map((match) => {
    const index = match.slice(1).findIndex((group) => group !== undefined);
    return { found: match[0].trim(), use: table[index]?.[1] ?? '' };
  });
}

const asWords = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[_-]/g, ' ')
    .toLowerCase();

const SCANNED = /^(?:src|test|migrations|scripts|docs)\/.*\.(?:tsx?|[mc]?js|md|ya?ml)$|^[A-Z]+\.md$/;

/** The files that are scanned. This file and its test name the words. */
export function scannedFiles(...paths: readonly string[]): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const files = listed.split('\n').filter((path) => SCANNED.test(path) && existsSync(join(ROOT, path)));
  return files.filter((path) => !path.startsWith('test/architecture/language.'));
}

export const findIdiomIn = (path: string): Finding[] => findIdiom(path, readFileSync(join(ROOT, path), 'utf8'));

if (import.meta.main) {
  const findings = scannedFiles(...process.argv.slice(2)).flatMap(findIdiomIn);
  for (const { path, line, found, use } of findings) process.stdout.write(`${path}:${line}: "${found}": ${use}\n`);
  process.stdout.write(`${findings.length} findings\n`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
