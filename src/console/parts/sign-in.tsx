import { useEffect, useRef, useState } from 'preact/hooks';
import { get, send } from '../client/api.js';
import { useAction, useLoad } from '../client/load.js';
import { SESSION, type Session } from '../client/session.js';
import { PersonSignIn } from './person-sign-in.js';
import { Field } from './forms.js';
import { ErrorBox } from './states.js';

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
  useEffect(() => dialog.current?.showModal(), []);
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
