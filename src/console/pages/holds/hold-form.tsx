import { open, type PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import { useConnectionChoices } from '../../client/haulers.js';
import { localInput } from '../../parts/filters.js';
import { bodyOf, Form, Input, instantOf, Select } from '../../parts/forms.js';
import { BackLink, Loading } from '../../parts/states.js';

const MINUTE_MS = 60_000;

/** The value of a time field: the start of its minute, or the end, so that the range never gets shorter. */
function inputTime(value: string | null, round: 'floor' | 'ceil'): string {
  const time = Date.parse(value ?? '');
  return Number.isNaN(time) ? '' : localInput(new Date(Math[round](time / MINUTE_MS) * MINUTE_MS));
}

/** A new hold. The address may have its truck and range. */
export function HoldForm({ query }: PageProps) {
  const choices = useConnectionChoices('vision');
  const create = async (values: FormData) => {
    const { id } = await send('POST', '/holds', bodyOf(values, { from: instantOf, to: instantOf }));
    open(linkTo('holds', { id }), { replace: true });
  };
  if (choices === undefined) return <Loading />;
  const connectionId = query.get('connectionId') ?? (choices.length === 1 ? choices[0]?.[0] : undefined);
  return (
    <>
      <BackLink href={linkTo('holds')}>All holds</BackLink>
      <Form title="New hold" submit="Hold the footage" work={create} onCancel={() => open(linkTo('holds'))}>
        <Input name="caseId" label="Case" isRequired hint="the case, claim or letter that needs the footage" />
        <Input name="reason" label="Reason" isRequired hint="such as: collision on Main St, letter of 3 February" />
        <Select
          name="connectionId"
          label="Partner who records the truck"
          choices={choices}
          value={connectionId}
          isRequired
        />
        <Input
          name="truckId"
          label="Truck"
          value={query.get('truckId') ?? ''}
          isRequired
          hint="as the partner spells it: a truck that is not known is refused"
        />
        <Input name="cameraId" label="Camera" value={query.get('cameraId') ?? ''} hint="empty: all cameras" />
        <Input
          name="from"
          label="From"
          type="datetime-local"
          value={inputTime(query.get('from'), 'floor')}
          isRequired
          hint="in the time zone of this browser"
        />
        <Input
          name="to"
          label="To"
          type="datetime-local"
          value={inputTime(query.get('to'), 'ceil')}
          isRequired
          hint="may be in the future; at most 366 days after the start"
        />
      </Form>
    </>
  );
}
