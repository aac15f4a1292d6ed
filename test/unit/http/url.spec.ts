import { describe, expect, jest, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { decodePathLiterally } from '../../../src/core/http/url.js';

function read(url: string): Request {
  const request = { url } as Request;
  decodePathLiterally(request, {} as Response, () => undefined);
  return request;
}

describe('a path with an invalid escape', () => {
  test.each([
    ['no escape', '/a/%zz', '/a/%25zz'],
    ['half an escape', '/a/b%4', '/a/b%254'],
    ['a lone %', '/%/b%', '/%25/b%25'],
    ['beside an escape', '/a%20b/%zz', '/a%20b/%25zz'],
    ['in upper case', '/%C3%A9/%ZZ', '/%C3%A9/%25ZZ'],
    ['invalid UTF-8', '/a/%ff', '/a/%25ff'],
    ['incomplete UTF-8', '/%E0%A4%A', '/%25E0%25A4%25A'],
    ['before a query', '/%zz?a=%zz?%ff', '/%25zz?a=%zz?%ff'],
  ])('is read literally: %s', (_what, url, literal) => {
    const request = read(url);
    expect(request.url).toBe(literal);
    expect(decodeURIComponent(literal.split('?')[0] as string)).toBeTruthy();
  });

  test.each(['/a/b', '/a%20b/%C3%A9', '/%2525', '/a?b=%zz'])('is not %s, which stays unchanged', (url) =>
    expect(read(url).url).toBe(url),
  );

  test.each(['/%', '/%ff', '/%zz/%ff', '/%e2%82', '%25%'])('thousands of %s are decoded once', (piece) => {
    const decode = jest.spyOn(globalThis, 'decodeURIComponent');
    try {
      read(piece.repeat(16_000 / piece.length));
      expect(decode).toHaveBeenCalledTimes(1);
    } finally {
      decode.mockRestore();
    }
  });
});
