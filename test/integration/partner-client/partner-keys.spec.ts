import { describe, expect, test } from '@jest/globals';
import type { PartnerConnection } from '../../../src/partner-client/connections.repository.js';
import { connectionRow, setConnectionRow } from '../../support/rows.js';
import * as partnerDoes from '../../support/scripted-partner.js';
import type { ScriptedReply } from '../../support/scripted-partner.js';
import {
  ask,
  EMPTY,
  failureOf,
  getSites,
  PARTNER_KEY,
  partnerClient,
  sealedFor,
  SITES,
  usePartnerCalls,
} from './partner-calls.js';

const scene = usePartnerCalls();
const { connect } = scene;

/** All texts that a log or a response could take from an error. */
const shown = (error: Error): string =>
  [error.message, error.stack, JSON.stringify(error), String(error.cause), JSON.stringify(error.cause)].join('\n');

describe('the two key slots', () => {
  /** A partner that accepts this key only. */
  const accepts =
    (key: string): ScriptedReply =>
    (response, request) =>
      (request.headers['api-key'] === key ? partnerDoes.json(EMPTY) : partnerDoes.refuses(401, 'UNAUTHORIZED'))(
        response,
        request,
      );
  const slots = async ({ id }: PartnerConnection) => {
    const { sealedKey, sealedNextKey } = await connectionRow(scene, id);
    return { sealedKey, sealedNextKey };
  };

  test('a next key that another instance promotes at the same time is the current key from then on', async () => {
    const connection = await connect({ nextKey: 'next-partner-key' });
    let others: Promise<unknown> | undefined;
    scene.partner.on(SITES, (response, request) => {
      others ??= setConnectionRow(scene, connection.id, {
        sealedKey: connection.sealedNextKey ?? '',
        sealedNextKey: null,
      });
      void others.then(() => accepts('next-partner-key')(response, request));
    });
    const client = partnerClient(scene.database);
    for (let i = 0; i < 3; i++) await ask(client, connection, getSites);
    const asked = scene.partner.asked.map(({ headers }) => headers['api-key']);
    expect(asked).toEqual([PARTNER_KEY, 'next-partner-key', 'next-partner-key', 'next-partner-key']);
    expect(await slots(connection)).toEqual({ sealedKey: connection.sealedNextKey, sealedNextKey: null });
  });

  test('a key that an admin saves during a call stays the current key', async () => {
    const connection = await connect({ nextKey: 'next-partner-key' });
    const saved = { sealedKey: sealedFor(connection.id, 'a third one'), sealedNextKey: connection.sealedNextKey };
    scene.partner.on(SITES, (response, request) => {
      const refused = request.headers['api-key'] === PARTNER_KEY;
      const saving = refused
        ? setConnectionRow(scene, connection.id, { sealedKey: saved.sealedKey })
        : Promise.resolve();
      void saving.then(() => accepts('next-partner-key')(response, request));
    });
    const client = partnerClient(scene.database);
    await ask(client, connection, getSites);
    expect(await slots(connection)).toEqual(saved);
    // The next key was not promoted: the saved key is sent first.
    await ask(client, connection, getSites);
    const asked = scene.partner.asked.map(({ headers }) => headers['api-key']);
    expect(asked).toEqual([PARTNER_KEY, 'next-partner-key', 'a third one', 'next-partner-key']);
  });

  test('a next key is not promoted by the page of a gateway with status 200', async () => {
    scene.partner.on(SITES, (response, request) =>
      (request.headers['api-key'] === PARTNER_KEY ? partnerDoes.refuses(401, 'UNAUTHORIZED') : partnerDoes.html())(
        response,
        request,
      ),
    );
    const connection = await connect({ nextKey: 'next-partner-key' });
    expect((await failureOf(ask(partnerClient(scene.database), connection, getSites))).kind).toBe('notJson');
    expect((await slots(connection)).sealedNextKey).toBe(connection.sealedNextKey);
  });
});

describe('the key of a partner', () => {
  const echo = `you sent ${PARTNER_KEY} or ${encodeURIComponent(PARTNER_KEY)} or ${Buffer.from(PARTNER_KEY).toString('base64')}`;

  test.each<[string, ScriptedReply]>([
    ['in an error body', partnerDoes.refuses(400, 'INVALID_PAYLOAD', echo)],
    ['as an error code', partnerDoes.refuses(500, PARTNER_KEY)],
    ['in a redirect', partnerDoes.redirects(`https://x.example/?key=${encodeURIComponent(PARTNER_KEY)}`)],
    ['on a broken connection', partnerDoes.breaks('{}', 1)],
    ['and does not answer', partnerDoes.hangs()],
    ['in a Content-Encoding', partnerDoes.raw('{}', { headers: { 'Content-Encoding': PARTNER_KEY } })],
  ])('is not in the error if the partner echoes it %s', async (_, reply) => {
    scene.partner.on(SITES, reply);
    const failure = await failureOf(ask(partnerClient(scene.database, { answerMs: 200 }), await connect(), getSites));
    const text = shown(failure);
    for (const form of [PARTNER_KEY, encodeURIComponent(PARTNER_KEY), Buffer.from(PARTNER_KEY).toString('base64')]) {
      expect(text).not.toContain(form);
    }
  });

  const LONG_KEY = 'pk_live_5f0c1f2e7a3b4c8d9e0f1a2b3c4d5e6f7a8';
  const LONG_KEY_64 = Buffer.from(LONG_KEY).toString('base64');

  test.each<[string, string, string]>([
    ['the end of a message', 'X', `${'x'.repeat(458)}${LONG_KEY}`],
    ['the end of a message, after a whole one', 'X', `${'x'.repeat(420)}${LONG_KEY} ${LONG_KEY}`],
    ['the end of a message, in base64', 'X', `${'x'.repeat(480)}${LONG_KEY_64}`],
    [
      'the end of a message, around a character that is removed',
      'X',
      `${'x'.repeat(470)}${LONG_KEY.slice(0, 9)}\0${LONG_KEY.slice(9)}`,
    ],
    ['the end of a code', `${'X'.repeat(80)}${LONG_KEY}`, 'no'],
  ])('is not in the error in part, across %s', async (_, code, message) => {
    scene.partner.on(SITES, partnerDoes.refuses(400, code, message));
    const failure = await failureOf(ask(partnerClient(scene.database), await connect({ key: LONG_KEY }), getSites));
    const text = shown(failure);
    for (const form of [LONG_KEY, LONG_KEY_64]) {
      for (let at = 0; at + 8 <= form.length; at++) expect(text).not.toContain(form.slice(at, at + 8));
    }
  });
});
