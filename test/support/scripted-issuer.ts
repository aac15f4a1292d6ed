import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CLIENT } from './identity-provider.js';

/** How an answer of the issuer departs from the rules. */
export interface Script {
  /** Claims that replace those of the ID token. */
  claims?: Record<string, unknown>;
  /** Parameters that replace those of the authorization answer. */
  answer?: Record<string, string>;
  /** The issuer in the description. */
  issuer?: string;
  /** Fields that replace those of the description. */
  metadata?: Record<string, unknown>;
  /** Signs with a key that the issuer does not list. */
  hasForeignKey?: boolean;
  /** The algorithm in the head of the ID token; one that begins with HS signs with the secret of the client. */
  algorithm?: string;
  /** Headers of every answer to the service. */
  headers?: Readonly<Record<string, string>>;
  /** What each call of these paths answers. */
  calls?: Readonly<Record<string, (response: ServerResponse) => void>>;
}

const text = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const newKey = () => ({ id: randomUUID(), ...generateKeyPairSync('rsa', { modulusLength: 2048 }) });

/** An issuer that answers by a script. It signs everybody in as `dana`, without a page. */
export async function startScriptedIssuer() {
  let script: Script = {};
  let key = newKey();
  const codes = new Map<string, { nonce: string | null; challenge: string | null }>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const idToken = (nonce: string | null, signer: { id: string; privateKey: KeyObject }): string => {
    const now = Math.floor(Date.now() / 1_000);
    const own = { iss: issuer, sub: 'dana', aud: CLIENT.clientId, iat: now, exp: now + 300, nonce, groups: ['ops'] };
    const alg = script.algorithm ?? 'RS256';
    const parts = `${text({ alg, kid: signer.id })}.${text({ ...own, ...script.claims })}`;
    const signature = alg.startsWith('HS')
      ? createHmac('sha256', CLIENT.clientSecret).update(parts).digest()
      : sign('sha256', Buffer.from(parts), signer.privateKey);
    return `${parts}.${signature.toString('base64url')}`;
  };

  const answers: Record<string, (url: URL, body: URLSearchParams) => unknown> = {
    '/.well-known/openid-configuration': () => ({
      issuer: script.issuer ?? issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      authorization_response_iss_parameter_supported: true,
      id_token_signing_alg_values_supported: ['RS256'],
      ...script.metadata,
    }),
    '/keys': () => ({ keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: key.id, alg: 'RS256', use: 'sig' }] }),
    '/authorize': ({ searchParams: query }) => {
      const code = randomUUID();
      codes.set(code, { nonce: query.get('nonce'), challenge: query.get('code_challenge') });
      const answer = { code, state: query.get('state') ?? '', iss: issuer, ...script.answer };
      return `${query.get('redirect_uri') ?? ''}?${new URLSearchParams(answer).toString()}`;
    },
    '/token': (_url, body) => {
      const code = codes.get(body.get('code') ?? '');
      codes.delete(body.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(body.get('code_verifier') ?? '')
        .digest('base64url');
      if (code?.challenge !== challenge) return { error: 'invalid_grant' };
      const token = idToken(code.nonce, script.hasForeignKey === true ? newKey() : key);
      return { access_token: 'access', token_type: 'Bearer', id_token: token };
    },
  };

  server.on('request', (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const url = new URL(request.url ?? '', issuer);
      if (url.pathname !== '/authorize') response.setHeaders(new Map(Object.entries(script.headers ?? {})));
      const scripted = script.calls?.[url.pathname];
      if (scripted !== undefined) return scripted(response);
      const answer = answers[url.pathname]?.(url, new URLSearchParams(body));
      if (typeof answer === 'string') return response.writeHead(302, { Location: answer }).end();
      const status =
        answer === undefined ? 404 : typeof answer === 'object' && answer !== null && 'error' in answer ? 400 : 200;
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer ?? {}));
    });
  });

  return {
    issuer,
    play: (next: Script) => (script = next),
    rotate: () => (key = newKey()),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
