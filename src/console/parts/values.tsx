import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

const TIME = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });

/** A time in the zone of the browser; UTC on hover. */
export function Time({ value }: { value: string | null | undefined }) {
  if (value === null || value === undefined) return <span class="muted">–</span>;
  return (
    <time dateTime={value} title={value}>
      {TIME.format(new Date(value))}
    </time>
  );
}

/** When something was done, and by whom. */
export const Done = ({ at, by }: { at: string | undefined; by: string | undefined }) => (
  <>
    <Time value={at} /> <span class="hint">by {by}</span>
  </>
);

/** Larger numbers have no groups of digits: a double may have 309 digits. */
const MAX_GROUPED = 1e15;

export const formatCount = (value: number): string =>
  Math.abs(value) < MAX_GROUPED ? NUMBER.format(value) : String(value);

/** A count; zeros are pale. */
export const Count = ({ value }: { value: number }) => (
  <span class={value === 0 ? 'muted' : ''} translate={false}>
    {formatCount(value)}
  </span>
);

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];

export function formatBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** power;
  return `${NUMBER.format(power === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1)))} ${UNITS[power]}`;
}

export function formatSeconds(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60), seconds % 60];
  const two = (part: number) => String(Math.floor(part)).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** Values by name, in a grid. A value that is false is left out. */
export function Facts({ of, kind = '' }: { of: Readonly<Record<string, ComponentChildren>>; kind?: string }) {
  const facts = Object.entries(of).filter(([, value]) => value !== false);
  return (
    <dl class={`facts ${kind}`}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value === undefined || value === null || value === '' ? <span class="muted">–</span> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Text of the service whose words in backticks are code. */
export const Prose = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
);

/** The first characters of a key, by which people recognise it. */
export const KeyPrefix = ({ value, name }: { value: string; name?: string | undefined }) => (
  <>
    <code class="prefix">{value}…</code>
    {name !== undefined && <span class="hint"> {name}</span>}
  </>
);

/** An id that can be copied. */
export function Id({ value }: { value: string }) {
  return (
    <span class="id">
      <code>{value}</code> <CopyButton text={value} label="Copy" />
    </span>
  );
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [result, setResult] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setResult('Copied');
    } catch {
      // Browsers allow this on https and localhost only.
      setResult('Select the text and copy it by hand');
    }
    setTimeout(() => setResult(''), 2_500);
  };
  return (
    <>
      <button type="button" class="small" onClick={() => void copy().catch(reportError)}>
        {label}
      </button>
      <span class="copied" role="status">
        {result}
      </span>
    </>
  );
}
