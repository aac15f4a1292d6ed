import { useState } from 'preact/hooks';
import type {
  Exchange,
  ExchangeDetail,
  ExchangeMessage,
  ReplayedExchange,
  ReplayedExchanges,
} from '../../../contracts/admin/exchanges.routes.js';
import { type Change, linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import { ActionButton } from '../../parts/forms.js';
import { Card, Detail, DetailHead, ResponseBadge, StatusBadge } from '../../parts/states.js';
import { Facts, formatBytes, formatCount, Id, KeyPrefix, Time } from '../../parts/values.js';
import { useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { Json } from '../../parts/json.js';
import { titleOf } from './exchange-title.rules.js';

/** Sends the request of an exchange again, as it was. */
function ReplayOne({ exchange: { id, direction, method, route } }: { exchange: ExchangeDetail }) {
  const [result, setResult] = useState<ReplayedExchange>();
  const isPush = direction === 'inbound' && method === 'POST';
  if (!isPush && (direction === 'inbound' || method !== 'GET' || route === 'download')) {
    return <p class="hint">Only pushes to this service and GET calls to a partner can be replayed.</p>;
  }
  return (
    <>
      <p class="actions">
        <ActionButton
          label={isPush ? 'Replay this push' : 'Replay this call'}
          confirm={isPush ? 'The push is processed again, as it was received.' : 'The same call is made again.'}
          work={async () => setResult(await send('POST', `/exchanges/${id}/replay`, {}))}
        />
      </p>
      {result !== undefined && (
        <p role="status">
          It was sent again. The response was <StatusBadge value={result.earlier.status} /> and is now{' '}
          <StatusBadge value={result.status} />:{' '}
          <a href={linkTo('exchanges', { id: result.exchangeId })}>open the new exchange</a>
        </p>
      )}
    </>
  );
}

/** Sends the requests of all exchanges of the filters again, after their number. */
export function ReplayAll({ filters }: { filters: Change }) {
  const [done, setDone] = useState<ReplayedExchanges>();
  const call = (dryRun: boolean) => send('POST', '/exchanges/replay', { ...filters, dryRun });
  const count = async () => {
    const { matched, skipped } = await call(true);
    const reasons = [...new Set(skipped.map(({ reason }) => reason))].slice(0, 3).join('; ');
    const sent = `${formatCount(matched - skipped.length)} of ${formatCount(matched)} exchanges are sent again as they were.`;
    return reasons === '' ? sent : `${sent} Skipped: ${reasons}.`;
  };
  return (
    <p class="actions">
      <ActionButton label="Replay these exchanges" confirm={count} work={async () => setDone(await call(false))} />
      {done !== undefined && <span role="status">{doneText(done)}</span>}
    </p>
  );
}

function doneText({ replayed, matched, failed }: ReplayedExchanges): string {
  const text = `${formatCount(replayed)} of ${formatCount(matched)} exchanges were replayed.`;
  const failures = [...new Set(failed.map(({ message }) => message))].slice(0, 3).join('; ');
  return failures === '' ? text : `${text} ${formatCount(failed.length)} could not be sent: ${failures}`;
}

/** One exchange: the explanation first, then both messages. */
export function ExchangeDetails({ id }: { id: string }) {
  return (
    <Detail path={`/exchanges/${encodeURIComponent(id)}`} list="All exchanges">
      {(data) => (
        <>
          <Summary exchange={data} />
          <div class="two">
            <Message title="Request" message={data.request} />
            <Message title="Response" message={data.response} />
          </div>
        </>
      )}
    </Detail>
  );
}

function Summary({ exchange }: { exchange: ExchangeDetail }) {
  const { isPartner } = useSession();
  const haulerName = useHaulerName();
  const { method, route, haulerId, connectionId, keyPrefix, requestId, ignoredFields, replayOf } = exchange;
  return (
    <DetailHead
      title={titleOf(exchange)}
      label="Exchange"
      badge={<ResponseBadge exchange={exchange} />}
      facts={{
        Time: <Time value={exchange.at} />,
        Hauler: !isPartner && haulerId !== null && (
          <a href={linkTo('haulers', { id: haulerId })}>{haulerName(haulerId)}</a>
        ),
      }}
    >
      <p class="notice">{exchange.explanation}</p>
      <Facts
        of={{
          Operation: (
            <code>
              {method} {route ?? ''}
            </code>
          ),
          Path: <code>{exchange.path}</code>,
          Duration: `${formatCount(exchange.durationMs)} ms`,
          Reason: exchange.reason !== undefined && (
            <a href={linkTo('exchanges', { direction: exchange.direction, reason: exchange.reason })}>
              {exchange.reason}
            </a>
          ),
          Connection: !isPartner && connectionId !== null && (
            <a href={linkTo('connections', { id: connectionId })}>{exchange.interface}</a>
          ),
          Key: keyPrefix === null ? undefined : <KeyPrefix value={keyPrefix} />,
          'Request id': requestId === null ? undefined : <Id value={requestId} />,
          Trace: <Id value={exchange.traceId} />,
          'Ignored fields': ignoredFields !== undefined && ignoredFields,
          'Replay of': replayOf !== undefined && (
            <a href={linkTo('exchanges', { id: replayOf })}>the original exchange</a>
          ),
        }}
      />
      <References exchange={exchange} />
      {!isPartner && <ReplayOne exchange={exchange} />}
    </DetailHead>
  );
}

function References({ exchange: { references } }: { exchange: Exchange }) {
  if (references.length === 0) return null;
  return (
    <ul class="references" aria-label="References">
      {references.map(({ kind, value }) => (
        <li key={kind + value}>
          <span class="hint">{kind}</span> <a href={linkTo('exchanges', { reference: `${kind}:${value}` })}>{value}</a>
        </li>
      ))}
    </ul>
  );
}

function Message({ title, message }: { title: string; message: ExchangeMessage | null }) {
  return (
    <Card title={title}>
      {message === null ? (
        <p>There is no {title.toLowerCase()}.</p>
      ) : (
        <>
          <Body title={title} message={message} />
          <details>
            <summary>Headers ({Object.keys(message.headers).length})</summary>
            <Facts
              of={Object.fromEntries(
                Object.entries(message.headers).map(([name, value]) => [name, <code key={name}>{value}</code>]),
              )}
            />
          </details>
        </>
      )}
    </Card>
  );
}

function Body({ title, message: { body } }: { title: string; message: ExchangeMessage }) {
  if (body === undefined) return <p class="hint">No body.</p>;
  const value = jsonOf(body.text);
  return (
    <>
      <p class="hint">
        {formatBytes(body.sizeBytes)}
        {body.truncated && '; only the beginning is kept'}
        {body.redacted === true && '; secrets are replaced by [redacted]'}
      </p>
      {value === undefined ? (
        <pre class="json" tabIndex={0} aria-label={`${title} body`}>
          {body.text ?? body.base64}
        </pre>
      ) : (
        <Json value={value} label={`${title} body`} />
      )}
    </>
  );
}

/** Undefined for text that is not JSON, such as a truncated body. */
function jsonOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
