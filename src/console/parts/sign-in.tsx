import { PERSON_SIGN_IN, SESSION, type Session } from '../client/session.js';
import {
  NETWORK_CAUSE_CODES,
  NETWORK_CAUSES,
  type NetworkCause,
} from '../../contracts/common/network-causes.values.js';
import type { SignInFault } from '../../contracts/admin/sessions.routes.js';
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, send } from '../client/api.js';
import { useAction, useLoad } from '../client/load.js';
import { Field } from './forms.js';
import { ErrorBox } from './states.js';

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
  refused: 'The identity provider refused the sign-in. The log of the service says why.',
  stale: 'This sign-in has expired or was used before. Sign in again.',
  invalid: 'The answer of the identity provider is not valid. The log of the service says why.',
  algorithm: (query) =>
    `The identity provider signs its ID tokens with ${algorithmIn(query)}, which is not accepted. Set a signing key there (RS256, or another algorithm with a public key).`,
  'no-role': 'You are signed in at the identity provider, but none of your groups has a role here. Ask an admin.',
  silent: 'Your session has ended. Sign in again.',
};

const isFault = (name: string): name is SignInFault => Object.hasOwn(FAULTS, name);

/** The button of people, above the form of tokens. `isExpired`: in a tab of its own, so that the page keeps what was typed. */
function PersonSignIn({ isExpired }: { readonly isExpired: boolean }) {
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
        {...(isExpired && { target: '_blank' })}
      >
        Sign in with your account
      </a>
      {isExpired && <p class="hint">It opens in a new tab. Come back to this one afterwards.</p>}
    </section>
  );
}

/** How often an expired page looks whether somebody has signed in. */
const LOOK_MS = 2_000;

/** Asks for the admin token or for an API key. */
export function SignIn({ onSignIn, isExpired = false }: { onSignIn: (session: Session) => void; isExpired?: boolean }) {
  const [kind, setKind] = useState<'token' | 'apiKey'>('token');
  const [secret, setSecret] = useState('');
  const action = useAction<undefined>(async () => onSignIn(await send('POST', SESSION, { [kind]: secret.trim() })));
  const { data: options } = useLoad('/console/api/sign-in');
  const submit = (event: Event) => {
    event.preventDefault();
    action.run(undefined).catch(reportError);
  };
  return (
    <form class="sign-in card" onSubmit={submit}>
      <h1>{isExpired ? 'Sign in again' : 'haulbridge console'}</h1>
      {isExpired && <p>Your session has ended. The page behind keeps what you typed.</p>}
      {options?.people === true && <PersonSignIn isExpired={isExpired} />}
      <fieldset class="choice">
        <legend>Sign in with a token or key</legend>
        <label>
          <input type="radio" name="kind" checked={kind === 'token'} onChange={() => setKind('token')} /> Admin token
        </label>
        <label>
          <input type="radio" name="kind" checked={kind === 'apiKey'} onChange={() => setKind('apiKey')} /> API key of a
          partner
        </label>
      </fieldset>
      <Field label={kind === 'token' ? 'Token of the admin API' : 'API key'}>
        <input
          type="password"
          name="secret"
          autocomplete="current-password"
          required
          value={secret}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
      </Field>
      {action.error !== undefined && <ErrorBox error={action.error} />}
      <button class="primary" type="submit" disabled={action.isRunning}>
        {action.isRunning ? 'Signing in …' : 'Sign in'}
      </button>
      <p class="hint">
        {kind === 'token'
          ? 'The admin token is ADMIN_TOKEN of the service; npm start stores it in data/secrets.json.'
          : 'An API key shows the exchanges and the sandbox of its own hauler or customer; that of a connection, how the platform reads its partner.'}
      </p>
    </form>
  );
}

/** Sign-in above the page whose session has ended. */
export function SignInDialog({ onSignIn }: { onSignIn: (session: Session) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    // Gives the focus back.
    return () => dialog.current?.close();
  }, []);
  useEffect(() => {
    // A person signs in in another tab.
    const look = () => void get(SESSION).then(onSignIn, () => undefined);
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <dialog ref={dialog} aria-label="Sign in again" onCancel={(event) => event.preventDefault()}>
      <SignIn onSignIn={onSignIn} isExpired />
    </dialog>
  );
}
