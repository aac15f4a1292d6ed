import { describe, expect, test } from '@jest/globals';
import { findIdiom, findIdiomIn, scannedFiles } from './language.js';

describe('the language of the project', () => {
  test('uses the words of the glossary in names, comments, messages and documents', () => {
    const findings = scannedFiles().flatMap(findIdiomIn);
    expect(findings.map(({ path, line, found, use }) => `${path}:${line}: "${found}": ${use}`)).toEqual([]);
  });

  test.each([
    ['src/mended-connections.ts', '', ['mended']],
    ['src/a.ts', 'const laid_by_at = 1; layBy();', ['laid by', 'lay by']],
    ['src/a.ts', 'class FilmStore {}; const patienceMs = 5;', ['film', 'patience']],
    ['src/a.ts', 'const MOST_TRIES = 5; new Places(3);', ['MOST_T', 'Places']],
    [
      'src/a.ts',
      "// Such a record is nobody's, of those that were told.",
      ['// Such a', "nobody's", 'of those that', 'told'],
    ],
    ['test/a.spec.ts', "it('tells the same, twice', () => {});", ['tells']],
    ['src/a.ts', 'const paceOf = 1; // at full pace', ['pace', 'pace']],
  ])('is checked in %s: %s', (path, text, found) => {
    expect(findIdiom(path, text).map((finding) => finding.found)).toEqual(found);
  });

  test.each([
    'const space = replaced; // 5 decimal places, and the rest',
    'await Promise.allSettled(calls); // foretells, filmed: other words',
  ])('accepts %s', (text) => {
    expect(findIdiom('src/a.ts', text)).toEqual([]);
  });
});
