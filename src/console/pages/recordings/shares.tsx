import { useState } from 'preact/hooks';
import type { StoredRecording } from '../../../contracts/admin/recordings.routes.js';
import type { CreatedRecordingShare, RecordingShare } from '../../../contracts/admin/shares.routes.js';
import { send } from '../../client/api.js';
import type { BodyOf } from '../../client/contract.js';
import { useAll } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { ActionButton, bodyOf, Chooser, Form, Input, Select } from '../../parts/forms.js';
import { type Column, Table } from '../../parts/listing.js';
import { Badge, Card } from '../../parts/states.js';
import { Secret, Time } from '../../parts/values.js';
import { wholeTime } from '../../parts/zone.rules.js';
import { cameraLabel } from '../coverage/coverage-sentence.rules.js';

interface SharesProps {
  /** Stored ones, at least one. */
  readonly recordings: readonly StoredRecording[];
  readonly ticketId?: string;
  /** The recording that is offered first. */
  readonly first?: string | undefined;
}

const LIVE_MS = 10_000;
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = '14';
const LIFETIMES = [
  ['1', '1 day'],
  ['7', '7 days'],
  [DEFAULT_DAYS, '14 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;

type SharesPath = `/recordings/${string}/shares`;

/** Links by which people without an account see a recording: a new one, and those that were made. */
export function Shares({ recordings, ticketId, first }: SharesProps) {
  const { canWrite } = useSession();
  const [chosen, setChosen] = useState<string>();
  const [isOpen, setOpen] = useState(false);
  const [created, setCreated] = useState<CreatedRecordingShare>();
  const id = chosen ?? first ?? recordings[0]?.id ?? '';
  /** From here on the part stays with one recording, though the player goes on to the next. */
  const open = () => {
    setChosen(id);
    setOpen(true);
  };
  const create = async (values: FormData) => {
    const body = bodyOf<BodyOf<'POST', SharesPath>>(values, {
      expiresAt: (days) => new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
    });
    setCreated(await send('POST', `/recordings/${id}/shares`, ticketId === undefined ? body : { ...body, ticketId }));
    setOpen(false);
  };
  return (
    <Card title="Share by a link" label="Share">
      <p class="hint">For a dispute: the link shows the recording and its ticket to people without an account.</p>
      {created !== undefined && (
        <div class="notice" role="status">
          <Secret of="link" value={created.url} onClose={() => setCreated(undefined)} />
        </div>
      )}
      {isOpen ? (
        <Form title="New link" submit="Create the link" work={create} onCancel={() => setOpen(false)}>
          {recordings.length > 1 && (
            <Chooser
              label="Recording"
              value={id}
              choices={recordings.map((each) => [each.id, titleOf(each)])}
              onChoose={setChosen}
            />
          )}
          <Input
            name="reason"
            label="Reason"
            isRequired
            hint="such as the number of the dispute; the link does not show it"
          />
          <Select name="expiresAt" label="The link works for" choices={LIFETIMES} value={DEFAULT_DAYS} />
        </Form>
      ) : (
        canWrite && (
          <p class="actions">
            <button type="button" onClick={open}>
              Share by a link
            </button>
          </p>
        )
      )}
      <ShareList recordingId={id} />
    </Card>
  );
}

const titleOf = ({ cameraId, startTime }: StoredRecording): string =>
  `${cameraLabel(cameraId)}, ${wholeTime(startTime)}`;

const COLUMNS: readonly Column<RecordingShare>[] = [
  { title: 'Reason', cell: ({ reason }) => reason },
  { title: 'State', cell: ({ status }) => <Badge value={status} /> },
  { title: 'Views', isNumber: true, cell: ({ views }) => views },
  { title: 'Last opened', cell: ({ lastViewedAt }) => <Time value={lastViewedAt} /> },
  { title: 'Expires', cell: ({ expiresAt }) => <Time value={expiresAt} /> },
  {
    title: 'Revoke',
    cell: ({ id, status, reason }) =>
      status === 'active' && (
        <ActionButton
          label="Revoke"
          kind="danger"
          confirm={`The link “${reason}” stops working at once.`}
          work={() => send('DELETE', `/shares/${id}`)}
        />
      ),
  },
];

/** The links of a recording; nothing if it has none. */
function ShareList({ recordingId }: { recordingId: string }) {
  const rows = useAll(`/recordings/${recordingId}/shares`, {}, LIVE_MS).data ?? [];
  return rows.length === 0 ? null : <Table label="Links" rows={rows} columns={COLUMNS} />;
}
