import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Configuration, CustomFetch, IDToken, ServerMetadata } from 'openid-client';
import { MAX_HEAD_BYTES } from '../../contracts/common/answer-limits.js';
import { BrokenAnswerError, NoAnswerError, reasonOf } from './oidc-faults.rules.js';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import type { OidcSettings } from '../../core/config/oidc-settings.js';
import type { Person } from '../../core/http/principal.js';
import { ownField } from '../../contracts/common/json.js';
import type { SignInState } from './sign-in-state.js';

const MAX_BYTES = 1_048_576;

/**
 * `fetch` for one answer of at most `MAX_BYTES`, whose head may be large (decision 64): the `fetch` of Node.js has no such setting.
 * The address is the operator's own setting, so it may be private. Redirects are not followed. Throws `NoAnswerError` if no
 * answer began or its time is over, and `BrokenAnswerError` if it cannot be read to its end.
 */
const fetchBounded: CustomFetch = async (url, { method, headers, body, signal }) => {
  const start = url.startsWith('https:') ? httpsRequest : httpRequest;
  const request = start(url, {
    method,
    headers: { ...headers, 'accept-encoding': 'identity' },
    signal,
    maxHeaderSize: MAX_HEAD_BYTES,
  });
  // An error after the head also reaches the reader of the body.
  request.on('error', () => undefined);
  request.end(Buffer.from(await new Response(body ?? null).arrayBuffer()));
  const [response] = (await once(request, 'response').catch((error: NodeJS.ErrnoException) => {
    if (error.code?.startsWith('HPE_') === true) throw new BrokenAnswerError('its answer is no HTTP', { cause: error });
    throw new NoAnswerError('the identity provider does not answer', { cause: error });
  })) as [IncomingMessage];
  const bytes = await readBody(response).catch((error: unknown) => {
    if (signal?.aborted === true) throw new NoAnswerError('the identity provider is too slow', { cause: error });
    throw error instanceof BrokenAnswerError ? error : new BrokenAnswerError('its answer broke off', { cause: error });
  });
  const { statusCode: status = 0, statusMessage: statusText = '' } = response;
  const received = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(bytes.length === 0 ? null : bytes, { status, statusText, headers: received });
};

async function readBody(response: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new BrokenAnswerError(`its answer is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Of each answer of the identity provider. */
const TIMEOUT_SECONDS = 10;

/** The description of the provider is read again after this time. Its keys are read at each sign-in, so that new ones count at once. */
const METADATA_MS = 60_000;

const CLOCK_TOLERANCE_SECONDS = 60;

/** A person as the identity provider has signed it in. */
interface Identity {
  readonly person: Person;
  readonly groups: readonly string[];
  /** Names its session there. */
  readonly idToken?: string;
}

type Library = typeof import('openid-client');

interface Connected {
  readonly library: Library;
  readonly settings: OidcSettings;
  readonly configuration: Configuration;
}

/** The calls to the identity provider (OpenID Connect). Their failures are those of `openid-client`. */
@Injectable()
export class OidcClient implements OnModuleInit {
  readonly settings: OidcSettings | undefined;
  private readonly logger = new Logger(OidcClient.name);
  private library: Library | undefined;
  private metadata: { readonly until: number; readonly read: Promise<ServerMetadata> } | undefined;

  constructor(@Inject(ENV) { OIDC }: Pick<ResolvedEnv, 'OIDC'>) {
    this.settings = OIDC;
  }

  /** At the start: Node keeps the failure of an import for ever, and a later one may have no file descriptor. */
  async onModuleInit(): Promise<void> {
    if (this.settings !== undefined) this.library = await import('openid-client');
  }

  newState(library: Library): Pick<SignInState, 'state' | 'nonce' | 'verifier'> {
    return { state: library.randomState(), nonce: library.randomNonce(), verifier: library.randomPKCECodeVerifier() };
  }

  /** Where a person signs in. A silent sign-in shows no page: it succeeds if the provider has a session of the person. */
  async begin(isSilent: boolean): Promise<{ readonly url: URL } & Pick<SignInState, 'state' | 'nonce' | 'verifier'>> {
    const { library, settings, configuration } = await this.connect();
    const parts = this.newState(library);
    const { scopes_supported: scopes = [] } = configuration.serverMetadata();
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: settings.redirectUri,
      // Some providers have a scope of the name of the claim.
      scope: ['openid', 'profile', 'email', ...scopes.filter((scope) => scope === settings.roleClaim)].join(' '),
      state: parts.state,
      nonce: parts.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(parts.verifier),
      code_challenge_method: 'S256',
      ...(isSilent ? { prompt: 'none' } : {}),
    });
    return { url, ...parts };
  }

  /** The person of an answer, `query` with its question mark. All that the sign-in began with is checked. */
  async finish(query: string, { state, nonce, verifier }: SignInState): Promise<Identity> {
    const { library, settings, configuration } = await this.connect();
    const tokens = await library.authorizationCodeGrant(configuration, new URL(settings.redirectUri + query), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims: IDToken = tokens.claims()!;
    const groups = groupsIn(claims, settings.roleClaim);
    // Some providers have most claims only there.
    const isComplete = groups !== undefined && claims['name'] !== undefined && claims['email'] !== undefined;
    const isAsked = !isComplete && configuration.serverMetadata().userinfo_endpoint !== undefined;
    const asking = isAsked
      ? library.fetchUserInfo(configuration, tokens.access_token, claims.sub)
      : Promise.resolve<Record<string, unknown>>({});
    const more = await (groups === undefined ? asking : this.optional(asking));
    return {
      person: personOf({ ...more, ...claims }),
      groups: groups ?? groupsIn(more, settings.roleClaim) ?? [],
      ...idTokenOf(tokens.id_token),
    };
  }

  /** Where a person's session at the provider is ended: that of an ID token. Undefined if the provider has no such page. */
  async signOutUrl(idToken: string | undefined): Promise<URL | undefined> {
    const { library, settings, configuration } = await this.connect();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return library.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: settings.consoleUrl,
      ...(idToken === undefined ? {} : { id_token_hint: idToken }),
    });
  }

  /** The name and the address of a person whose groups are known: without them the person has its subject. */
  private async optional<T extends object>(asking: Promise<T>): Promise<T | Record<string, never>> {
    try {
      return await asking;
    } catch (error) {
      this.logger.warn(
        { reason: reasonOf(error) },
        'the identity provider did not say the name of a person, who signs in without it',
      );
      return {};
    }
  }

  private async connect(): Promise<Connected> {
    const { library, settings } = this;
    if (library === undefined || settings === undefined) throw new Error('OIDC_ISSUER is not set');
    if (this.metadata === undefined || this.metadata.until < Date.now()) {
      const read = this.discover(library, settings);
      this.metadata = { until: Date.now() + METADATA_MS, read };
      // A failure is not kept: the provider may be back.
      read.catch(() => (this.metadata = undefined));
    }
    const metadata = await this.metadata.read;
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata;
    const authentication = methods.includes('client_secret_basic')
      ? library.ClientSecretBasic
      : library.ClientSecretPost;
    const configuration = new library.Configuration(
      metadata,
      settings.clientId,
      { client_secret: settings.clientSecret, [library.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authentication(settings.clientSecret),
    );
    configuration.timeout = TIMEOUT_SECONDS;
    configuration[library.customFetch] = fetchBounded;
    library.enableNonRepudiationChecks(configuration);
    if (settings.isInsecure) library.allowInsecureRequests(configuration);
    return { library, settings, configuration };
  }

  private async discover(library: Library, { issuer, clientId, isInsecure }: OidcSettings): Promise<ServerMetadata> {
    const found = await library.discovery(new URL(issuer), clientId, undefined, library.None(), {
      timeout: TIMEOUT_SECONDS,
      [library.customFetch]: fetchBounded,
      ...(isInsecure ? { execute: [library.allowInsecureRequests] } : {}),
    });
    // Without a function of the library, which adds it again.
    const fields = Object.entries(found.serverMetadata()).filter(([name]) => name !== 'supportsPKCE');
    return Object.fromEntries(fields) as unknown as ServerMetadata;
  }
}

/** In an address: a longer one is refused by many servers, and the provider then asks the person. */
const MAX_HINT = 6_000;

const idTokenOf = (token: string | undefined): Pick<Identity, 'idToken'> =>
  token === undefined || token.length > MAX_HINT ? {} : { idToken: token };

const MAX_TEXT = 255;

function personOf(claims: Readonly<Record<string, unknown>> & { readonly sub: string }): Person {
  const text = (name: string): string | undefined => {
    const value = claims[name];
    return typeof value === 'string' && value.trim() !== ''
      ? value.trim().slice(0, MAX_TEXT).toWellFormed()
      : undefined;
  };
  const [name, email] = [text('name') ?? text('preferred_username'), text('email')];
  return {
    subject: claims.sub.slice(0, MAX_TEXT),
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
  };
}

/**
 * The groups in a claim: a list of texts, or one text. The claim may be within objects, as `realm_access.roles` of Keycloak is.
 * Undefined if the claim is absent.
 */
function groupsIn(claims: unknown, claim: string): string[] | undefined {
  const value = ownField(claims, claim) ?? claim.split('.').reduce<unknown>(ownField, claims);
  if (value === undefined || value === null) return undefined;
  return (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string');
}
