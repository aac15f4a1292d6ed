import { useEffect, useRef, useState } from 'preact/hooks';
import type { Found, FoundKind } from '../../contracts/admin/search.routes.js';
import { open } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { Badge, ErrorBox } from './states.js';
import { Time } from './values.js';

const TYPING_MS = 250;
const MAX_LENGTH = 400;

const NAMES: Partial<Record<FoundKind, string>> = { clip: 'clip request', run: 'synchronisation', delivery: 'webhook' };

/** Fields in which a slash is a slash. */
const isTyped = (target: EventTarget | null) =>
  target instanceof Element && target.closest('input, select, textarea, dialog, [contenteditable]') !== null;

/** One field for all that has a number, a name or an id. `/` goes to it, the arrows through what was found, Enter opens the first. */
export function SearchField() {
  const [typed, setTyped] = useState('');
  const [sought, setSought] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [isEntered, setEntered] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { data, error, isStale } = useLoad(isOpen && sought !== '' ? '/search' : undefined, { q: sought });
  const isCurrent = data !== undefined && !isStale && typed.trim() === sought;
  const close = () => setOpen(false);
  useEffect(() => {
    const timer = setTimeout(() => setSought(typed.trim()), isEntered ? 0 : TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, isEntered]);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyped(event.target)) return;
      event.preventDefault();
      form.current?.querySelector('input')?.select();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  // Enter may come before the answer.
  useEffect(() => {
    const page = isEntered && isCurrent ? data.data[0]?.page : undefined;
    if (!isEntered || !isCurrent) return;
    setEntered(false);
    if (page !== undefined) {
      open(page);
      close();
    }
  }, [isEntered, isCurrent]);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') {
      form.current?.querySelector('input')?.focus();
      close();
    }
    if (step === undefined || form.current === null) return;
    const places = [...form.current.querySelectorAll<HTMLElement>('input, li a')];
    event.preventDefault();
    places[places.indexOf(document.activeElement as HTMLElement) + step]?.focus();
  };
  return (
    <form
      class="finder"
      role="search"
      aria-label="Everything"
      ref={form}
      onKeyDown={move}
      onSubmit={(event) => {
        event.preventDefault();
        setOpen(true);
        setEntered(true);
      }}
      onFocusOut={({ relatedTarget }) => {
        if (!(relatedTarget instanceof Node && form.current?.contains(relatedTarget) === true)) close();
      }}
    >
      <input
        type="search"
        aria-label="Find a number, truck, account or id"
        aria-keyshortcuts="/"
        placeholder="Find a number, truck, account, id …"
        maxLength={MAX_LENGTH}
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onFocus={() => setOpen(true)}
        onInput={({ currentTarget: { value } }) => {
          setTyped(value);
          setEntered(false);
          setOpen(true);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
      {isOpen && typed.trim() !== '' && (
        // A press on the list keeps the focus within.
        <div class="found" tabIndex={-1}>
          {error !== undefined && <ErrorBox error={error} />}
          {!isCurrent && error === undefined && <p class="hint">Looking …</p>}
          {isCurrent && data.data.length === 0 && <NothingFound text={sought} lookedFor={data.lookedFor} />}
          {isCurrent && data.data.length > 0 && (
            <ul aria-label="Found" aria-live="polite">
              {data.data.map((found) => (
                <li key={found.kind + found.page + found.sentence}>
                  <Result found={found} onOpen={close} />
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </form>
  );
}

const Result = ({
  found: { kind, sentence, detail, failed, at, hauler, page },
  onOpen,
}: {
  found: Found;
  onOpen: () => void;
}) => (
  <a href={page} onClick={onOpen}>
    <Badge value={NAMES[kind] ?? kind} tone={failed === true ? 'bad' : 'plain'} />
    <span>
      {sentence}
      {at !== undefined && (
        <>
          {' '}
          at <Time value={at} />
        </>
      )}
      <span class="hint clamp one">{[detail, hauler?.name].filter((each) => each !== undefined).join(' · ')}</span>
    </span>
  </a>
);

const NothingFound = ({ text, lookedFor }: { text: string; lookedFor: readonly string[] }) => (
  <div role="status">
    <p>
      Nothing found for <strong>{text}</strong>. Looked for:
    </p>
    <ul>
      {lookedFor.map((each) => (
        <li key={each}>{each}</li>
      ))}
    </ul>
  </div>
);
