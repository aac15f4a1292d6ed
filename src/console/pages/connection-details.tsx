import { useState } from 'preact/hooks';
import type { CheckedRule, ConnectionCheck } from '../../contracts/admin/connection-check.dto.js';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import { linkTo, open } from '../client/address.js';
import { send } from '../client/api.js';
import { useHaulerName } from '../client/haulers.js';
import { ActionButton, fieldText, Form, Input } from '../parts/forms.js';
import { type Column, Table } from '../parts/listing.js';
import { Badge, type Tone } from '../parts/states.js';
import { Facts, Id, Time } from '../parts/values.js';
import { RotationPicture } from './rotation-picture.js';

type ConnectionPath = `/connections/${string}`;
type Panel = 'none' | 'rotate' | 'edit';

export function ConnectionDetails({ connection }: { connection: Connection }) {
  const [check, setCheck] = useState<ConnectionCheck>();
  const [panel, setPanel] = useState<Panel>('none');
  const haulerName = useHaulerName();
  const path = `/connections/${connection.id}` as const;
  const toggle = (chosen: Panel) => setPanel(panel === chosen ? 'none' : chosen);
  return (
    <>
      <section class="card" aria-label="Connection">
        <h2>
          {haulerName(connection.haulerId)}, {connection.interface}
        </h2>
        <ConnectionFacts connection={connection} />
        <div class="actions">
          <ActionButton
            label="Check now"
            kind="primary"
            busy="Checking …"
            isRead
            work={async () => setCheck(await send('POST', `${path}/check`))}
          />
          {connection.interface === 'site' && <SyncNow connection={connection} />}
          <ActionButton
            label={connection.enabled ? 'Pause' : 'Resume'}
            work={() => send('PATCH', path, { enabled: !connection.enabled })}
          />
          <button type="button" aria-expanded={panel === 'rotate'} onClick={() => toggle('rotate')}>
            Rotate the key
          </button>
          <button type="button" aria-expanded={panel === 'edit'} onClick={() => toggle('edit')}>
            Change
          </button>
          <ActionButton
            label="Delete"
            kind="danger"
            confirm="This erases its keys and ends all calls to the partner. Data that it delivered stays."
            work={async () => {
              await send('DELETE', path);
              open(linkTo('connections'));
            }}
          />
        </div>
      </section>
      {panel === 'rotate' && <RotateForm path={path} onClose={() => setPanel('none')} />}
      {panel === 'edit' && <EditForm connection={connection} path={path} onClose={() => setPanel('none')} />}
      {check !== undefined && <CheckResult check={check} />}
    </>
  );
}

function ConnectionFacts({ connection }: { connection: Connection }) {
  const { id, baseUrl, customerId, nextRunAt, intervalSeconds, hasNextApiKey, firstByteTimeoutSeconds } = connection;
  return (
    <Facts
      of={{
        State: <ConnectionState connection={connection} />,
        Address: <code>{baseUrl}</code>,
        Customer: customerId !== null && customerId,
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

export function ConnectionState({ connection: { enabled, lastError } }: { connection: Connection }) {
  return (
    <>
      <Badge
        value={enabled ? (lastError === null ? 'enabled' : 'failing') : 'paused'}
        tone={lastError === null ? undefined : 'bad'}
      />
      {lastError !== null && <div class="hint clamp">{lastError}</div>}
    </>
  );
}

function SyncNow({ connection }: { connection: Connection }) {
  const sync = async () => {
    const { runId } = await send('POST', `/connections/${connection.id}/sync`);
    open(linkTo('sync', { connectionId: connection.id, run: runId }));
  };
  return (
    <>
      <ActionButton label="Synchronise now" work={sync} />
      <a class="button" href={linkTo('sync', { connectionId: connection.id })}>
        Runs
      </a>
    </>
  );
}

function RotateForm({ path, onClose }: { path: ConnectionPath; onClose: () => void }) {
  const store = async (values: FormData) => {
    await send('PATCH', path, { nextApiKey: fieldText(values, 'nextApiKey') });
    onClose();
  };
  return (
    <Form title="Rotate the key" submit="Store the next key" work={store} onCancel={onClose}>
      <RotationPicture kind="partner" />
      <Input
        name="nextApiKey"
        label="Next key of the partner"
        type="password"
        isRequired
        hint="it is never shown again"
      />
    </Form>
  );
}

interface EditFormProps {
  readonly connection: Connection;
  readonly path: ConnectionPath;
  readonly onClose: () => void;
}

/** A key belongs to the origin that it was saved with: another one needs its own key. */
function EditForm({ connection, path, onClose }: EditFormProps) {
  const [address, setAddress] = useState(connection.baseUrl);
  const isMoved = originOf(address) !== originOf(connection.baseUrl);
  const store = async (values: FormData) => {
    const apiKey = fieldText(values, 'apiKey');
    // Empty: the customer is the hauler.
    const customerId = fieldText(values, 'customerId') ?? connection.haulerId;
    const firstByte = Number(fieldText(values, 'firstByteTimeoutSeconds') ?? 0);
    await send('PATCH', path, {
      baseUrl: fieldText(values, 'baseUrl'),
      intervalSeconds: Number(fieldText(values, 'intervalSeconds')),
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(connection.interface === 'vision' ? { customerId, firstByteTimeoutSeconds: firstByte } : {}),
    });
    onClose();
  };
  return (
    <Form title="Change the connection" submit="Store" work={store} onCancel={onClose}>
      <Input
        name="baseUrl"
        label="Address of the partner"
        type="url"
        isRequired
        value={connection.baseUrl}
        onInput={setAddress}
      />
      <Input
        name="apiKey"
        label={isMoved ? 'Key for this address' : 'Another key'}
        type="password"
        isRequired={isMoved}
        hint={isMoved ? 'the stored key belongs to the former address' : 'empty: the stored key stays'}
      />
      {connection.interface === 'vision' && (
        <>
          <Input
            name="customerId"
            label="Customer"
            value={connection.customerId ?? ''}
            hint="empty: the id of the hauler"
          />
          <Input
            name="firstByteTimeoutSeconds"
            label="Seconds for the first byte of a file"
            type="number"
            value={connection.firstByteTimeoutSeconds ?? ''}
            hint="empty: the default of the service; cameras wake up slowly"
          />
        </>
      )}
      <Input
        name="intervalSeconds"
        label="Seconds between two calls"
        type="number"
        isRequired
        value={connection.intervalSeconds}
      />
    </Form>
  );
}

const originOf = (address: string): string => (URL.canParse(address) ? new URL(address).origin : address);

/** Three results, the findings for the partner to fix, and the rules. */
function CheckResult({ check }: { check: ConnectionCheck }) {
  const results = [
    ['Reachable', check.reachable],
    ['Accepts the key', check.authorized],
    [`Follows the interface: ${check.proven} of ${check.of} rules proven`, check.conforms],
  ] as const;
  return (
    <section class="card" aria-label="Result of the check">
      <h2>Result of the check</h2>
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
      {check.findings.length === 0 && check.rules.length === 0 && <p>Nothing to report.</p>}
      {check.rules.length > 0 && <Rules rules={check.rules} />}
    </section>
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
