import { useState } from 'preact/hooks';
import type { ConnectionCheck } from '../../../contracts/admin/connection-check.dto.js';
import type { Connection, ConnectionRemoval } from '../../../contracts/admin/connection.dto.js';
import { open, type PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import { useHaulerName } from '../../client/haulers.js';
import { ActionButton, Needing } from '../../parts/forms.js';
import { Facts, formatCount, Id, Time } from '../../parts/values.js';
import { CheckResult } from './connection-check.js';
import { FailedShare, HealthState, LastFailure } from '../../parts/health.js';
import { EditForm } from './connection-forms.js';
import { ConnectionTrucks } from './connection-trucks.js';
import { NextStep } from '../haulers/hauler-setup.js';
import { DetailHead } from '../../parts/states.js';

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
