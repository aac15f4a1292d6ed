import type {
  Exchange,
  ExchangeDetail,
  ExchangeList,
  ExchangeMessage,
  ExchangeReference,
} from '../../contracts/admin/exchange.dto.js';
import { linkTo } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { Difference, Json } from '../parts/json.js';
import { BackLink, ErrorBox, Loading } from '../parts/states.js';
import { Fact, Facts, formatBytes, formatCount, Id, KeyPrefix, Time, useHaulerName } from '../parts/values.js';
import { ReplayOne } from './replay-one.js';
import { ResponseBadge } from './response-badge.js';

const MORE = 8;

/** One exchange, readable: the explanation first, then both messages, then what changed since the attempt before. */
export function ExchangeDetails({ id }: { id: string }) {
  const { data: exchange, error, reload } = useLoad<ExchangeDetail>(`/exchanges/${encodeURIComponent(id)}`);
  return (
    <>
      <BackLink href={linkTo('exchanges')}>All exchanges</BackLink>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {exchange === undefined && error === undefined && <Loading />}
      {exchange !== undefined && (
        <>
          <Summary exchange={exchange} />
          <div class="two">
            <Message title="Request" message={exchange.request} />
            <Message title="Response" message={exchange.response} />
          </div>
          <EarlierAttempt exchange={exchange} />
        </>
      )}
    </>
  );
}

/** Whose call it was, by name. */
function Parties({ exchange: { haulerId, connectionId } }: { exchange: Exchange }) {
  const haulerName = useHaulerName();
  return (
    <>
      <Fact name="Hauler">{haulerId === null ? undefined : haulerName(haulerId)}</Fact>
      {connectionId !== null && (
        <Fact name="Connection">
          <a href={linkTo('connections', { id: connectionId })}>open</a>
        </Fact>
      )}
    </>
  );
}

function Summary({ exchange }: { exchange: ExchangeDetail }) {
  const { session } = useSession();
  return (
    <section class="card" aria-label="Exchange">
      <h2>
        {exchange.method} {exchange.route ?? ''} <ResponseBadge exchange={exchange} />
      </h2>
      <p class="notice">{exchange.explanation}</p>
      <Facts>
        <Fact name="Direction">{exchange.direction === 'inbound' ? 'to this service' : 'of this service'}</Fact>
        <Fact name="At">
          <Time value={exchange.at} />
        </Fact>
        <Fact name="Path">
          <code>{exchange.path}</code>
        </Fact>
        <Fact name="Took">{formatCount(exchange.durationMs)} ms</Fact>
        {session.kind !== 'partner' && <Parties exchange={exchange} />}
        <Fact name="Key">{exchange.keyPrefix === null ? undefined : <KeyPrefix value={exchange.keyPrefix} />}</Fact>
        <Fact name="Request id">{exchange.requestId === null ? undefined : <Id value={exchange.requestId} />}</Fact>
        {exchange.ignoredFields !== undefined && <Fact name="Ignored fields">{exchange.ignoredFields}</Fact>}
        {exchange.replayOf !== undefined && (
          <Fact name="Repeats">
            <a href={linkTo('exchanges', { id: exchange.replayOf })}>the exchange before</a>
          </Fact>
        )}
      </Facts>
      <References exchange={exchange} />
      {session.kind !== 'partner' && <ReplayOne exchange={exchange} />}
    </section>
  );
}

function References({ exchange: { references } }: { exchange: Exchange }) {
  if (references.length === 0) return null;
  return (
    <ul class="references" aria-label="References">
      {references.slice(0, MORE).map(({ kind, value }) => (
        <li key={kind + value}>
          <span class="hint">{kind}</span> <a href={linkTo('exchanges', { reference: `${kind}:${value}` })}>{value}</a>
        </li>
      ))}
      {references.length > MORE && <li class="hint">and {references.length - MORE} more</li>}
    </ul>
  );
}

function Message({ title, message }: { title: string; message: ExchangeMessage | null }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {message === null ? (
        <p>There was none.</p>
      ) : (
        <>
          <Body title={title} message={message} />
          <details>
            <summary>Headers ({Object.keys(message.headers).length})</summary>
            <dl class="headers">
              {Object.entries(message.headers).map(([name, value]) => (
                <div key={name}>
                  <dt>
                    <code>{name}</code>
                  </dt>
                  <dd>
                    <code>{value}</code>
                  </dd>
                </div>
              ))}
            </dl>
          </details>
        </>
      )}
    </section>
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

/** Undefined for text that is not JSON, such as a body that was cut. */
function jsonOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The references by which two attempts at the same thing are recognised, the most specific first. */
const SPECIFIC: readonly ExchangeReference['kind'][] = [
  'idempotencyKey',
  'ticketNumber',
  'accountName',
  'videoRequestId',
  'recordingId',
  'partnerRequestId',
  'truckId',
  'siteId',
];

const mostSpecific = (references: readonly ExchangeReference[]): ExchangeReference | undefined =>
  SPECIFIC.map((kind) => references.find((each) => each.kind === kind)).find((each) => each !== undefined);

/** The last exchange before this one about the same thing, and what the caller changed since. */
function EarlierAttempt({ exchange }: { exchange: ExchangeDetail }) {
  const reference = mostSpecific(exchange.references);
  const { data } = useLoad<ExchangeList>(reference === undefined ? undefined : '/exchanges', {
    reference: reference === undefined ? undefined : `${reference.kind}:${reference.value}`,
    direction: exchange.direction,
    to: exchange.at,
    pageSize: 20,
  });
  const earlier = data?.data.find(({ id, route }) => id !== exchange.id && route === exchange.route);
  const { data: detail } = useLoad<ExchangeDetail>(earlier === undefined ? undefined : `/exchanges/${earlier.id}`);
  if (earlier === undefined) return null;
  const before = jsonOf(detail?.request.body?.text);
  const after = jsonOf(exchange.request.body?.text);
  return (
    <section class="card" aria-label="Earlier attempt">
      <h2>Since the attempt before</h2>
      <p>
        <a href={linkTo('exchanges', { id: earlier.id })}>
          <Time value={earlier.at} />
        </a>{' '}
        <ResponseBadge exchange={earlier} />
      </p>
      {before !== undefined && after !== undefined && (
        <Difference before={before} after={after} titles={['Before', 'This one']} />
      )}
      {detail !== undefined && exchange.method === 'GET' && (
        <p class="hint">{detail.path === exchange.path ? 'The same call.' : `Its path was ${detail.path}`}</p>
      )}
    </section>
  );
}
