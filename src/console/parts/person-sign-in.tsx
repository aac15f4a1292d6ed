import { PERSON_SIGN_IN } from '../client/session.js';
import {
  NETWORK_CAUSE_CODES,
  NETWORK_CAUSES,
  type NetworkCause,
} from '../../contracts/common/network-causes.values.js';
import type { SignInFault } from '../../contracts/admin/people.dto.js';

/** `query` may name the algorithm. */
const algorithmIn = (query: URLSearchParams): string =>
  /^[\w-]{1,20}$/.exec(query.get('algorithm') ?? '')?.[0] ?? 'another way';

const ofNetwork = Object.fromEntries(
  NETWORK_CAUSE_CODES.map((code) => [
    code,
    `The identity provider could not be reached: ${NETWORK_CAUSES[code]}. Tell an admin.`,
  ]),
) as Record<NetworkCause, string>;

const FAULTS: Readonly<Record<SignInFault, string | ((query: URLSearchParams) => string)>> = {
  ...ofNetwork,
  'provider-away': 'The identity provider does not answer. Try again later, or sign in with a token.',
  refused: 'The identity provider refused the sign-in.',
  stale: 'This sign-in has expired or was used before. Sign in again.',
  invalid: 'The answer of the identity provider is not valid. The log of the service says why.',
  algorithm: (query) =>
    `The identity provider signs its ID tokens with ${algorithmIn(query)}, which is not accepted. Set a signing key there (RS256, or another algorithm with a public key).`,
  'no-role': 'You are signed in at the identity provider, but none of your groups has a role here. Ask an admin.',
  silent: 'Your session has ended. Sign in again.',
};

const isFault = (name: string): name is SignInFault => Object.hasOwn(FAULTS, name);

/** The button of people, above the form of tokens. `isExpired`: in a tab of its own, so that the page keeps what was typed. */
export function PersonSignIn({ isExpired }: { readonly isExpired: boolean }) {
  const query = new URLSearchParams(location.search);
  const fault = query.get('fault') ?? '';
  const sentence = isFault(fault) ? FAULTS[fault] : undefined;
  const returnTo = isExpired
    ? '/console/'
    : (query.get('return') ?? location.pathname + (isFault(fault) ? '' : location.search));
  return (
    <section class="person">
      {sentence !== undefined && (
        <p class="notice" role="alert">
          {typeof sentence === 'string' ? sentence : sentence(query)}
        </p>
      )}
      <a
        class="button primary"
        href={`${PERSON_SIGN_IN}?${new URLSearchParams({ return: returnTo }).toString()}`}
        {...(isExpired && { target: '_blank', rel: 'noopener' })}
      >
        Sign in with your account
      </a>
      {isExpired && <p class="hint">It opens in a new tab. Come back to this one afterwards.</p>}
    </section>
  );
}
