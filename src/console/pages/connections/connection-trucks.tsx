import type { Connection } from '../../../contracts/admin/connection.dto.js';
import type { VideoSubscription } from '../../../contracts/admin/video-subscription.dto.js';
import { change, type PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import type { BodyOf } from '../../client/contract.js';
import { useSession } from '../../client/session.js';
import { localInput } from '../../parts/filters.js';
import { ActionButton, bodyOf, Form, Input, instantOf } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { CallState, Card, Empty } from '../../parts/states.js';
import { Time } from '../../parts/values.js';
import { DAY_MS } from '../../parts/zone.rules.js';

const LIVE_MS = 5_000;

/** The trucks whose recordings the platform fetches by this connection. */
export function ConnectionTrucks({ connection, query }: PageProps & { connection: Connection }) {
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
          keyOf={({ id }) => id}
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
