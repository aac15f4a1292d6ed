import { useState } from 'preact/hooks';
import type { DeletableOfTruck, HaulerRetention, RetentionPreview } from '../../../contracts/admin/retention.dto.js';
import { type PageProps } from '../../client/address.js';
import { send } from '../../client/api.js';
import { useHaulers } from '../../client/haulers.js';
import { useLoad } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { SelectFilter } from '../../parts/filters.js';
import { ActionButton, bodyOf, Form, Input } from '../../parts/forms.js';
import { type Column, Table } from '../../parts/listing.js';
import { Card, Loadable } from '../../parts/states.js';
import { Done, Facts, formatBytes, formatCount, Time } from '../../parts/values.js';
import { Erasures } from './erasures.js';

/** For how long the video of each hauler is kept, and what is erased by request. */
export function RetentionPage({ query }: PageProps) {
  const { choices } = useHaulers();
  const haulerId = query.get('haulerId') ?? (choices.length === 1 ? [choices[0]].flat()[0] : undefined);
  // One thing at a time: two forms on one page would be mistaken for each other.
  const isErasing = query.has('erasure') || query.has('new');
  return (
    <>
      <p>
        <a href="/docs/guides/holds" target="_blank" rel="noopener">
          How retention and erasure work
        </a>
      </p>
      <form class="filters open" role="search" aria-label="Hauler" onSubmit={(event) => event.preventDefault()}>
        <SelectFilter
          name="haulerId"
          label="Hauler"
          query={query}
          choices={choices}
          all="Choose a hauler"
          defaultValue={haulerId}
        />
      </form>
      {haulerId !== undefined && haulerId !== '' && !isErasing && <HaulerKeeping key={haulerId} haulerId={haulerId} />}
      <Erasures query={query} haulerId={haulerId} />
    </>
  );
}

type Days = Pick<HaulerRetention, 'onDemandDays' | 'continuousDays'>;

const FOR_EVER: Days = { continuousDays: null, onDemandDays: null };

const daysText = (days: number | null): string => (days === null ? 'for ever' : `${formatCount(days)} days`);

function HaulerKeeping({ haulerId }: { haulerId: string }) {
  const { canWrite } = useSession();
  const setting = useLoad(`/haulers/${haulerId}/retention`);
  const [wanted, setWanted] = useState<Days>();
  return (
    <Loadable of={setting}>
      {(stored) => (
        <>
          <Card title="Retention">
            <Facts
              of={{
                'Continuous recordings': daysText(stored.continuousDays),
                'Requested clips': daysText(stored.onDemandDays),
                Setting: stored.isDefault ? 'the default of the service' : 'of this hauler',
                Changed: stored.changedAt !== undefined && <Done at={stored.changedAt} by={stored.changedBy} />,
              }}
            />
          </Card>
          {canWrite && wanted === undefined && <DaysForm stored={stored} onWanted={setWanted} />}
          {wanted !== undefined && <Preview haulerId={haulerId} wanted={wanted} onClose={() => setWanted(undefined)} />}
        </>
      )}
    </Loadable>
  );
}

function DaysForm({ stored, onWanted }: { stored: HaulerRetention; onWanted: (days: Days) => void }) {
  const show = (values: FormData) => {
    const days = bodyOf<Days>(values, { continuousDays: Number, onDemandDays: Number });
    onWanted({ ...FOR_EVER, ...days });
    return Promise.resolve();
  };
  return (
    <Form title="Change the retention" submit="Preview" work={show}>
      <Input
        name="continuousDays"
        label="Continuous recordings, days"
        type="number"
        value={stored.continuousDays ?? ''}
        hint="after the file was stored; empty: for ever"
      />
      <Input
        name="onDemandDays"
        label="Requested clips, days"
        type="number"
        value={stored.onDemandDays ?? ''}
        hint="after the file was stored; empty: for ever"
      />
    </Form>
  );
}

interface PreviewProps {
  readonly haulerId: string;
  readonly wanted: Days;
  readonly onClose: () => void;
}

/** What the change deletes, before it is made. */
function Preview({ haulerId, wanted, onClose }: PreviewProps) {
  const { continuousDays, onDemandDays } = wanted;
  const days = { continuousDays: continuousDays ?? 0, onDemandDays: onDemandDays ?? 0 };
  const preview = useLoad('/retention/preview', { haulerId, ...days });
  const save = async ({ recordings }: RetentionPreview) => {
    await send('PUT', `/haulers/${haulerId}/retention`, { ...wanted, confirm: true, recordings });
    onClose();
  };
  return (
    <Card
      title={`Continuous recordings ${daysText(continuousDays)}, requested clips ${daysText(onDemandDays)}`}
      label="Preview"
    >
      <Loadable of={preview}>
        {(data) => (
          <>
            <PreviewCounts preview={data} />
            <p class="actions">
              <ActionButton
                label={data.recordings === 0 ? 'Set the retention' : 'Delete and set the retention'}
                kind={data.recordings === 0 ? 'primary' : 'danger'}
                confirm={
                  data.recordings === 0
                    ? undefined
                    : `${formatCount(data.recordings)} recordings are deleted within an hour. This cannot be undone.`
                }
                work={() => save(data)}
              />
              <button type="button" onClick={onClose}>
                Change nothing
              </button>
            </p>
          </>
        )}
      </Loadable>
    </Card>
  );
}

const TRUCKS: readonly Column<DeletableOfTruck>[] = [
  { title: 'Truck', cell: ({ truckId }) => truckId },
  { title: 'Deleted', isNumber: true, cell: ({ recordings }) => formatCount(recordings) },
  { title: 'Size', isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
  { title: 'Kept by holds', isNumber: true, cell: ({ held }) => formatCount(held) },
  { title: 'Oldest', cell: ({ oldest }) => <Time value={oldest} /> },
  { title: 'Newest', cell: ({ newest }) => <Time value={newest} /> },
];

function PreviewCounts({
  preview: { recordings, bytes, held, oldest, newest, trucks },
}: {
  preview: RetentionPreview;
}) {
  return (
    <>
      {recordings === 0 ? (
        <p>Nothing is deleted by it now.</p>
      ) : (
        <p class="notice warn" role="status">
          {formatCount(recordings)} recordings ({formatBytes(bytes)}) are deleted by it.
        </p>
      )}
      <Facts
        of={{
          'Kept by holds': formatCount(held),
          Oldest: oldest !== undefined && <Time value={oldest} />,
          Newest: newest !== undefined && <Time value={newest} />,
        }}
      />
      {trucks.length > 0 && (
        <Table
          label="By truck"
          rows={trucks}
          columns={TRUCKS}
          keyOf={({ connectionId, truckId }) => `${connectionId} ${truckId}`}
        />
      )}
    </>
  );
}
