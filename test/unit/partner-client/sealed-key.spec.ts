import { describe, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { openKey, SealBrokenError, sealKey } from '../../../src/partner-client/connection-keys.service.js';
import { failureSentence } from '../../../src/core/work/row-runner.js';

const secret = randomBytes(32);
const id = randomUUID();
const sealed = sealKey(secret, id, 'a partner’s key');
const changed = (at: number) => `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;

describe('a sealed key', () => {
  test('opens for its own connection, in either case of the id', () => {
    expect(openKey(secret, id, sealed)).toBe('a partner’s key');
    expect(openKey(secret, id.toUpperCase(), sealed)).toBe('a partner’s key');
  });

  test('opens in the first stored form', () => {
    const stored = 'v1.oKGio6SlpqeoqaqrzKLjpoBVVTsrAOVsE09iLYc4DEw3v2zaEIcHSnRaq7sJ';
    const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
    expect(openKey(key, '019a9a3e-5b7c-7def-8123-456789abcdef', stored)).toBe('a partner’s key');
  });

  test('does not contain the key, and is different each time', () => {
    expect(sealed).toMatch(/^v1\.[\w-]+$/);
    expect(sealKey(secret, id, 'a partner’s key')).not.toBe(sealed);
  });

  test.each([
    ['for another connection', secret, randomUUID(), sealed],
    ['with another SECRETS_KEY', randomBytes(32), id, sealed],
    ['of a later version', secret, id, sealed.replace('v1', 'v2')],
    ['whose nonce was changed', secret, id, changed(5)],
    ['whose tag was changed', secret, id, changed(25)],
    ['whose text was changed', secret, id, changed(45)],
    ['that was cut', secret, id, sealed.slice(0, 20)],
    ['that is empty, as of a deleted connection', secret, id, ''],
  ])('%s does not open', (_, key, connection, text) => {
    expect(() => openKey(key, connection, text)).toThrow(SealBrokenError);
  });

  test('that does not open fails its run with a sentence, without a stack', () => {
    const sentence =
      'The stored API key cannot be decrypted with this SECRETS_KEY; save the key of the connection again.';
    expect(failureSentence(new SealBrokenError())).toEqual({ text: sentence, expected: true });
  });
});
