import type { SetTicketFootage, TicketFootageSetting } from '../../../contracts/admin/footage.dto.js';
import { send } from '../../client/api.js';
import { useAll, useLoad } from '../../client/load.js';
import { bodyOf, Form, Input, Select } from '../../parts/forms.js';
import { ErrorBox, Loading } from '../../parts/states.js';

/** Which custom field of a hauler's tickets names the truck, and where its footage is. */
export function FootageSetting({ haulerId }: { haulerId: string }) {
  const connections = useAll('/connections', { haulerId, interface: 'vision' }).data;
  // Without a connection there is no setting either.
  const isPossible = connections !== undefined && connections.length > 0;
  const setting = useLoad(isPossible ? `/haulers/${encodeURIComponent(haulerId)}/ticket-footage` : undefined);
  const isUnset = setting.error?.status === 404;
  if (setting.error !== undefined && !isUnset) return <ErrorBox error={setting.error} onRetry={setting.reload} />;
  if (connections === undefined || (isPossible && setting.data === undefined && !isUnset)) return <Loading />;
  if (connections.length === 0) return null;
  const choices = connections.map(({ id, baseUrl }) => [id, baseUrl] as const);
  const stored = isUnset ? undefined : setting.data;
  return <SettingForm key={stored?.updatedAt ?? ''} haulerId={haulerId} stored={stored} choices={choices} />;
}

interface SettingFormProps {
  readonly haulerId: string;
  readonly stored: TicketFootageSetting | undefined;
  readonly choices: readonly (readonly [id: string, address: string])[];
}

function SettingForm({ haulerId, stored, choices }: SettingFormProps) {
  const path = `/haulers/${haulerId}/ticket-footage` as const;
  const fields = useFieldNames(haulerId);
  const save = (values: FormData) => send('PUT', path, bodyOf<SetTicketFootage>(values, { cameras: namesIn }));
  const hint =
    fields.length === 0
      ? 'the custom field of a ticket, such as truckNumber'
      : `custom fields of the newest tickets: ${fields.join(', ')}`;
  return (
    <Form title="Footage of tickets" submit={stored === undefined ? 'Set it up' : 'Save'} work={save}>
      <Input
        name="truckField"
        label="Custom field that names the truck"
        value={stored?.truckField}
        isRequired
        hint={hint}
      />
      <Select
        name="connectionId"
        label="Partner who records the truck"
        choices={choices}
        value={stored?.connectionId ?? (choices.length === 1 ? choices[0]?.[0] : undefined)}
        isRequired
      />
      <Input
        name="cameras"
        label="Cameras"
        value={stored?.cameras.join(', ')}
        hint="such as front, rear; empty: all that are known of the truck"
      />
    </Form>
  );
}

const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** Names of custom fields in the newest tickets of the hauler. */
function useFieldNames(haulerId: string): string[] {
  const tickets = useLoad('/tickets', { haulerId, pageSize: 20 }).data?.data ?? [];
  return [...new Set(tickets.flatMap(({ customFields }) => Object.keys(customFields ?? {})))].slice(0, 8);
}
