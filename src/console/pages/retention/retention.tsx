import { useState } from 'preact/hooks';
import type { DeletableOfTruck, HaulerRetention, RetentionPreview } from '../../../contracts/admin/retention.routes.js';
import type { PageProps } from '../../client/address.js';
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
  if (query.has('erasure')) return <Erasures query={query} haulerId={haulerId} />;
  return (
    <>
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
      {/* One form at a time: two of them on one page would be mistaken for each other. */}
      {haulerId !== undefined && haulerId !== '' && !query.has('new') && (
        <HaulerKeeping key={haulerId} haulerId={haulerId} />
      )}
      <Erasures query={query} haulerId={haulerId} />
    </>
  );
}

type Days = Pick<HaulerRetention, 'onDemandDays' | 'continuousDays'>;

const FOR_EVER: Days = { continuousDays: null, onDemandDays: null };

const daysText = (days: number | null): string => (days === null ? 'for ever' : `${formatCount(days)} days`);

/** A setting, and what it deletes. */
interface Previewed {
  readonly wanted: Days;
  readonly preview: RetentionPreview;
}

function HaulerKeeping({ haulerId }: { haulerId: string }) {
  const { canWrite } = useSession();
  const path = `/haulers/${haulerId}/retention` as const;
  const setting = useLoad(path);
  const [previewed, setPreviewed] = useState<Previewed>();
  const show = async (values: FormData) => {
    const wanted = { ...FOR_EVER, ...bodyOf<Days>(values, { continuousDays: Number, onDemandDays: Number }) };
    const { preview } = await send('PUT', path, { ...wanted, dryRun: true });
    if (preview !== undefined) setPreviewed({ wanted, preview });
  };
  const save = async ({ wanted }: Previewed) => {
    await send('PUT', path, wanted);
    setPreviewed(undefined);
  };
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
          {canWrite && previewed === undefined && <DaysForm stored={stored} work={show} />}
          {previewed !== undefined && (
            <Preview {...previewed} save={() => save(previewed)} onClose={() => setPreviewed(undefined)} />
          )}
        </>
      )}
    </Loadable>
  );
}

function DaysForm({ stored, work }: { stored: HaulerRetention; work: (values: FormData) => Promise<void> }) {
  return (
    <Form title="Change the retention" submit="Preview" work={work}>
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

interface PreviewProps extends Previewed {
  readonly save: () => Promise<void>;
  readonly onClose: () => void;
}

/** What the change deletes, before it is made. */
function Preview({ wanted: { continuousDays, onDemandDays }, preview, save, onClose }: PreviewProps) {
  const { recordings } = preview;
  return (
    <Card
      title={`Continuous recordings ${daysText(continuousDays)}, requested clips ${daysText(onDemandDays)}`}
      label="Preview"
    >
      <PreviewCounts preview={preview} />
      <p class="actions">
        <ActionButton
          label={recordings === 0 ? 'Set the retention' : 'Delete and set the retention'}
          kind={recordings === 0 ? 'primary' : 'danger'}
          confirm={
            recordings === 0
              ? undefined
              : `${formatCount(recordings)} recordings are deleted within an hour. This cannot be undone.`
          }
          work={save}
        />
        <button type="button" onClick={onClose}>
          Change nothing
        </button>
      </p>
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

function PreviewCounts({ preview: { recordings, bytes, held, trucks } }: { preview: RetentionPreview }) {
  return (
    <>
      {recordings === 0 ? (
        <p>Nothing is deleted by it now.</p>
      ) : (
        <p class="notice warn" role="status">
          {formatCount(recordings)} recordings ({formatBytes(bytes)}) are deleted by it.
        </p>
      )}
      {held > 0 && <p>Holds keep {formatCount(held)} more.</p>}
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
