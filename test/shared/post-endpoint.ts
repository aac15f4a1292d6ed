import type { ApiContract } from '../../src/contracts/common/api-contract.js';
import type { InterfaceName } from '../../src/contracts/common/interfaces.values.js';
import { issueKey } from '../support/api-keys.js';
import type { TestApp } from '../support/app.js';
import type { CallOptions, Reply } from '../support/http.js';

export interface ErrorAnswer {
  readonly success: boolean;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details?: {
      readonly reason?: string;
      readonly violations?: { path: string; rule: string; message: string }[];
    };
  };
}

interface PostEndpoint {
  readonly api: ApiContract & { readonly name: InterfaceName };
  /** With its prefix. */
  readonly path: string;
}

export interface Caller {
  readonly haulerId: string;
  readonly key: string;
  /** Posts to the endpoint; an object goes as JSON, text and bytes as they are. */
  post<Body = ErrorAnswer>(body: unknown, headers?: CallOptions['headers'], on?: TestApp): Promise<Reply<Body>>;
}

/** A partner with a key for the endpoint, of a new hauler. */
export async function callerOf({ api, path }: PostEndpoint, service: TestApp): Promise<Caller> {
  const { key, haulerId } = await issueKey(service, [api.name]);
  return {
    key,
    haulerId,
    post: (body, headers = {}, on = service) =>
      on.call('POST', path, { headers: { [api.keyHeader]: key, ...headers }, body }),
  };
}

export const pathsOf = ({ body }: Reply<ErrorAnswer>): string[] =>
  (body.error.details?.violations ?? []).map(({ path }) => path);
