import type { Exchange, ExchangeDetail, ExchangeMessage } from '../../../contracts/admin/exchange.dto.js';
import { linkTo, linkWith } from '../../client/links.js';
import { useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { Json } from '../../parts/json.js';
import { Card, Detail, DetailHead, ResponseBadge } from '../../parts/states.js';
import { Facts, formatBytes, formatCount, Id, KeyPrefix, Time } from '../../parts/values.js';
import { titleOf } from './exchange-title.rules.js';
import { ReplayOne } from './replay.js';

/** One exchange: the explanation first, then both messages. */
export function ExchangeDetails({ id, query }: { id: string; query: URLSearchParams }) {
  return (
    <Detail
      path={`/exchanges/${encodeURIComponent(id)}`}
      back={linkWith('exchanges', query, { id: undefined })}
      list="All exchanges"
    >
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
