import type { ComponentChildren } from 'preact';
import type { Erasure, ErasureCounts } from '../../../contracts/admin/erasure.dto.js';
import { useHaulerName } from '../../client/haulers.js';
import { Badge, DetailHead, type Tone } from '../../parts/states.js';
import { Done, Facts, formatBytes, formatCount, Id, Time } from '../../parts/values.js';

export const TONES: Readonly<Record<Erasure['status'], Tone>> = {
  previewed: 'plain',
  running: 'info',
  done: 'good',
  stopped: 'warn',
  failed: 'bad',
};

export const whatOf = ({ kind, accountId = '', truckId = '', cameraId }: Erasure): string =>
  kind === 'account' ? `Account ${accountId}` : `${truckId}, ${cameraId === undefined ? 'all cameras' : cameraId}`;

/** What an erasure has erased, or would erase. */
export function Receipt({ erasure, children }: { erasure: Erasure; children?: ComponentChildren }) {
  const { status, reason, notReached, endsByItself } = erasure;
  const haulerName = useHaulerName();
  return (
    <DetailHead
      title={whatOf(erasure)}
      label="Erasure"
      badge={<Badge value={status} tone={TONES[status]} />}
      facts={{
        Hauler: haulerName(erasure.haulerId),
        Finished: erasure.finishedAt !== undefined && <Time value={erasure.finishedAt} />,
      }}
    >
      <Facts
        of={{
          From: erasure.from !== undefined && <Time value={erasure.from} />,
          To: erasure.to !== undefined && <Time value={erasure.to} />,
          Requested: <Done at={erasure.createdAt} by={erasure.createdBy} />,
          Id: erasure.id !== undefined && <Id value={erasure.id} />,
        }}
      />
      {reason !== undefined && <p class="notice warn">{reason}</p>}
      <h3>{status === 'previewed' ? 'Would be erased' : 'Erased'}</h3>
      <Facts of={countsOf(erasure)} />
      {children}
      <h3>Ends by itself</h3>
      <ul>
        {endsByItself.map(({ what, until }) => (
          <li key={what}>
            {what} Until {until}.
          </li>
        ))}
      </ul>
      <h3>Not reached</h3>
      <ul>
        {notReached.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </DetailHead>
  );
}

const TITLES: Readonly<Record<keyof ErasureCounts, string>> = {
  accounts: 'Accounts',
  recordings: 'Recordings, with their files',
  bytes: 'Size of these files',
  versionsLeft: 'Files with old versions that remain',
  exchanges: 'Exchanges, redacted',
  tickets: 'Tickets that named it',
  revisions: 'Stored pushes that named it',
  findings: 'Parts of lists with errors',
};

/** Without those of which there is nothing. */
function countsOf({ preview, erased }: Erasure): Record<string, string> {
  const counts = preview ?? erased;
  const names = (Object.keys(TITLES) as (keyof ErasureCounts)[]).filter((name) => counts[name] > 0);
  return Object.fromEntries(
    names.map((name) => [TITLES[name], (name === 'bytes' ? formatBytes : formatCount)(counts[name])]),
  );
}
