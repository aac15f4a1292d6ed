import type {
  CheckedRule,
  Connection,
  ConnectionCheck,
  ConnectionRemoval,
} from '../../../contracts/admin/connections.routes.js';
import { type Column, ListPage, Table } from '../../parts/listing.js';
import { Badge, CallState, Card, DetailHead, Empty, type Tone } from '../../parts/states.js';
import type { VideoSubscription } from '../../../contracts/admin/video-subscriptions.routes.js';
import { change, open, type PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import type { BodyOf } from '../../client/contract.js';
import { useSession } from '../../client/session.js';
import { localInput } from '../../parts/filters.js';
import { ActionButton, bodyOf, Form, Input, instantOf, Needing } from '../../parts/forms.js';
import { Facts, formatCount, Id, Time } from '../../parts/values.js';
import { DAY_MS } from '../../parts/zone.rules.js';
import { useState } from 'preact/hooks';
import { useHaulerName } from '../../client/haulers.js';
import { FailedShare, HealthState, LastFailure } from '../../parts/health.js';
import { EditForm } from './connection-forms.js';
import { NextStep } from '../haulers/hauler-setup.js';

/** Three results, the findings for the partner to fix, and the rules. */
function CheckResult({ check }: { check: ConnectionCheck }) {
  const results = [
    ['Reachable', check.reachable],
    ['Accepts the key', check.authorized],
    [`Follows the interface: ${check.proven} of ${check.ofKit} rules proven; the kit proves the rest`, check.conforms],
  ] as const;
  return (
    <Card title="Result of the check">
      <ul class="answers">
        {results.map(([text, isTrue]) => (
          <li key={text}>
            <Badge value={isTrue === null ? 'not proven' : isTrue ? 'yes' : 'no'} /> {text}
          </li>
        ))}
      </ul>
      {check.findings.length > 0 && (
        <ul class="findings">
          {check.findings.map((finding, index) => (
            <li key={index}>{finding}</li>
          ))}
        </ul>
      )}
      {check.rules.length > 0 && <Rules rules={check.rules} />}
    </Card>
  );
}

const TONES: Readonly<Record<CheckedRule['outcome'], Tone>> = {
  passed: 'good',
  failed: 'bad',
  warning: 'warn',
  'kit-error': 'bad',
  'not-applicable': 'plain',
  'not-proven': 'plain',
};

/** The broken rules with their remedies; below them the other rules, folded. */
function Rules({ rules }: { rules: readonly CheckedRule[] }) {
  const isBroken = ({ outcome }: CheckedRule) =>
    outcome === 'failed' || outcome === 'warning' || outcome === 'kit-error';
  const [broken, others] = [rules.filter(isBroken), rules.filter((rule) => !isBroken(rule))];
  return (
    <>
      {broken.length === 0 ? (
        <p>No rule of the conformance kit failed.</p>
      ) : (
        <Table label="Broken rules" rows={broken} columns={RULE_COLUMNS} keyOf={keyOfRule} />
      )}
      {others.length > 0 && (
        <details>
          <summary>
            {others.filter(({ outcome }) => outcome === 'passed').length} rules passed,{' '}
            {others.filter(({ outcome }) => outcome !== 'passed').length} not proven by this check
          </summary>
          <Table label="Other rules" rows={others} columns={RULE_COLUMNS} keyOf={keyOfRule} />
        </details>
      )}
    </>
  );
}

const keyOfRule = ({ id, operation, message }: CheckedRule): string => `${id} ${operation} ${message}`;

const RULE_COLUMNS: readonly Column<CheckedRule>[] = [
  { title: 'Rule', cell: ({ id }) => <code class="prefix">{id}</code> },
  {
    title: 'Outcome',
    cell: ({ outcome }) => <Badge value={outcome} tone={TONES[outcome]} />,
  },
  { title: 'Operation', cell: ({ operation }) => operation },
  {
    title: 'Finding',
    cell: ({ message, remedy }) =>
      message === '' && remedy === undefined ? null : (
        <div>
          {message}
          {remedy !== undefined && <div class="remedy">{remedy}</div>}
        </div>
      ),
  },
];

const LIVE_MS = 5_000;

/** The trucks whose recordings the platform fetches by this connection. */
function ConnectionTrucks({ connection, query }: PageProps & { connection: Connection }) {
  const { canWrite } = useSession();
  const isOpen = query.has('follow');
  return (
    <>
      {isOpen && <FollowForm connection={connection} />}
      <Card title="Followed trucks">
        {canWrite && !isOpen && (
          <p class="actions">
            <a class="button" href={linkTo('connections', { id: connection.id, follow: 1 })}>
              Follow the cameras of a truck
            </a>
          </p>
        )}
        <ListPage
          path="/video-subscriptions"
          query={query}
          name="trucks"
          fixed={{ connectionId: connection.id }}
          everyMs={LIVE_MS}
          label="Trucks"
          columns={columnsOf(canWrite)}
          empty={
            <Empty title="No truck is followed yet.">
              The platform fetches the recordings of the trucks that it follows, and single clips of all others.
            </Empty>
          }
        />
      </Card>
    </>
  );
}

const columnsOf = (canWrite: boolean): readonly Column<VideoSubscription>[] => [
  {
    title: 'Truck',
    cell: ({ connectionId, truckId }) => (
      <a class="prefix" href={linkTo('coverage', { connectionId, truckId })}>
        {truckId}
      </a>
    ),
  },
  { title: 'Camera', cell: ({ cameraId }) => cameraId ?? 'all cameras' },
  { title: 'Lists read until', cell: ({ watermark }) => <Time value={watermark} /> },
  { title: 'State', cell: (subscription) => <CallState of={subscription} /> },
  ...(canWrite ? [{ title: 'Actions', cell: (each: VideoSubscription) => <TruckActions subscription={each} /> }] : []),
];

function TruckActions({ subscription: { id, truckId, enabled } }: { subscription: VideoSubscription }) {
  const path = `/video-subscriptions/${id}` as const;
  return (
    <span class="actions">
      <ActionButton
        label={enabled ? 'Pause this truck' : 'Resume this truck'}
        work={() => send('PATCH', path, { enabled: !enabled })}
      />
      <ActionButton
        label="Stop following"
        kind="danger"
        confirm={`New recordings of ${truckId} are not fetched any more. Those that are listed stay.`}
        work={() => send('DELETE', path)}
      />
    </span>
  );
}

function FollowForm({ connection }: { connection: Connection }) {
  const follow = async (values: FormData) => {
    const fields = bodyOf<Omit<BodyOf<'POST', '/video-subscriptions'>, 'connectionId'>>(values, {
      startTime: instantOf,
    });
    await send('POST', '/video-subscriptions', { ...fields, connectionId: connection.id });
    change({ follow: undefined });
  };
  return (
    <Form
      title="Follow the cameras of a truck"
      submit="Follow this truck"
      work={follow}
      onCancel={() => change({ follow: undefined })}
    >
      <Input name="truckId" label="Truck, as the partner names it" isRequired hint="such as TRUCK-7" />
      <Input name="cameraId" label="Camera" hint="empty: all cameras of the truck" />
      <Input
        name="startTime"
        label="Recordings since"
        type="datetime-local"
        isRequired
        value={localInput(new Date(Date.now() - DAY_MS))}
        hint="at first the last 24 hours"
      />
    </Form>
  );
}

interface DetailsProps extends PageProps {
  readonly connection: Connection;
  /** It has just been created: it is checked at once, and the next step of the hauler is offered. */
  readonly isNew: boolean;
}

export function ConnectionDetails({ connection, isNew, query }: DetailsProps) {
  const [check, setCheck] = useState<ConnectionCheck>();
  const [isOpen, setOpen] = useState(false);
  const haulerName = useHaulerName();
  const path = `/connections/${connection.id}` as const;
  return (
    <>
      <DetailHead
        title={`${haulerName(connection.haulerId)}, ${connection.interface}`}
        label="Connection"
        badge={<HealthState of={connection} />}
        facts={{
          'Last success': <Time value={connection.health?.lastSuccessAt} />,
          'Last failure': <LastFailure of={connection} />,
        }}
      >
        <ConnectionFacts connection={connection} />
        <div class="actions">
          <ActionButton
            label="Check this partner now"
            kind="primary"
            busy="Checking the partner …"
            needs="operator"
            isAtOnce={isNew}
            work={async () => setCheck(await send('POST', `${path}/check`))}
          />
          {connection.interface === 'site' && <SyncNow connection={connection} />}
          <ActionButton
            label={connection.enabled ? 'Pause this connection' : 'Resume this connection'}
            work={() => send('PATCH', path, { enabled: !connection.enabled })}
          />
          <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Change this connection
          </button>
          <ActionButton
            label="Delete this connection"
            kind="danger"
            confirm={async () => {
              const ending = await send('DELETE', `${path}?dryRun=true`);
              return `This erases the keys of ${connection.baseUrl} and ends all calls to it for ${haulerName(connection.haulerId)}. ${endingText(ending)}Data that it delivered stays.`;
            }}
            work={async () => {
              await send('DELETE', path);
              open(linkTo('connections'));
            }}
          />
        </div>
      </DetailHead>
      {isOpen && <EditForm connection={connection} path={path} onClose={() => setOpen(false)} />}
      {check !== undefined && <CheckResult check={check} />}
      {isNew && <NextStep haulerId={connection.haulerId} />}
      {connection.interface === 'vision' && (
        <Needing writes="operator">
          <ConnectionTrucks connection={connection} query={query} />
        </Needing>
      )}
    </>
  );
}

const ENDING = [
  ['keys', 'key'],
  ['syncRuns', 'synchronisation run'],
  ['videoSubscriptions', 'subscription'],
  ['videoRequests', 'requested clip'],
  ['recordings', 'waiting download'],
] as const;

/** What ends with a connection, as its dry run counts it. */
function endingText(ending: ConnectionRemoval | undefined): string {
  const counts = ENDING.flatMap(([name, noun]) => {
    const count = ending?.[name] ?? 0;
    return count === 0 ? [] : [`${formatCount(count)} ${count === 1 ? noun : `${noun}s`}`];
  });
  return counts.length === 0 ? '' : `It ends ${counts.join(', ')}. `;
}

function ConnectionFacts({ connection }: { connection: Connection }) {
  const { id, haulerId, baseUrl, customerId, nextRunAt, intervalSeconds, hasNextApiKey, firstByteTimeoutSeconds } =
    connection;
  return (
    <Facts
      of={{
        Hauler: <a href={linkTo('haulers', { id: haulerId })}>{useHaulerName()(haulerId)}</a>,
        Address: <code>{baseUrl}</code>,
        Customer: customerId !== null && customerId,
        'Failed in 24 h': <FailedShare of={connection} />,
        'Next call': <Time value={nextRunAt} />,
        Interval: `${intervalSeconds} s`,
        'First byte of a file': firstByteTimeoutSeconds !== null && `within ${firstByteTimeoutSeconds} s`,
        'Next key': hasNextApiKey ? 'stored, tried when the current key is refused' : 'none',
        Exchanges: <a href={linkTo('exchanges', { connectionId: id })}>calls of this connection</a>,
        Id: <Id value={id} />,
      }}
    />
  );
}

function SyncNow({ connection }: { connection: Connection }) {
  const sync = async () => {
    const { runId } = await send('POST', `/connections/${connection.id}/sync`);
    open(linkTo('sync', { connectionId: connection.id, run: runId }));
  };
  return (
    <>
      <ActionButton label="Synchronise its sites now" needs="operator" work={sync} />
      <a class="button" href={linkTo('sync', { connectionId: connection.id })}>
        Show its runs
      </a>
    </>
  );
}
