import { useState } from 'preact/hooks';
import type { Erasure } from '../../contracts/admin/erasure.dto.js';
import { change, type PageProps } from '../client/address.js';
import { send } from '../client/api.js';
import { useHaulers } from '../client/haulers.js';
import { fieldText, Form, Input, Options, Select } from '../parts/forms.js';
import { Receipt } from './erasure-receipt.js';
import { instantText, useVisionChoices } from './hold-form.js';

const KINDS = [
  ['footage', 'Footage of a truck in a range'],
  ['account', 'An account, with all that names it'],
] as const;

type ErasureRequest = ReturnType<typeof accountOf> | ReturnType<typeof footageOf>;

interface Counted {
  readonly request: ErasureRequest;
  readonly erasure: Erasure;
}

const close = () => change({ new: undefined, accountId: undefined });

/** Counts what an erasure would erase, and erases it when that is confirmed. */
export function ErasureForm({ query, haulerId }: PageProps & { haulerId: string | undefined }) {
  const [kind, setKind] = useState<string>(query.has('accountId') ? 'account' : 'footage');
  const [counted, setCounted] = useState<Counted>();
  const count = async (values: FormData) => {
    const request = kind === 'account' ? accountOf(values) : footageOf(values);
    setCounted({ request, erasure: await send('POST', '/erasures', { ...request, dryRun: true }) });
  };
  if (counted !== undefined) return <Confirmation {...counted} />;
  return (
    <Form title="New erasure" submit="Preview the erasure" work={count} onCancel={close}>
      <p class="hint">Nothing is erased yet: the next step shows what would be, in numbers.</p>
      <label class="field">
        <span>What to erase</span>
        <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
          <Options choices={KINDS} />
        </select>
      </label>
      {kind === 'account' ? (
        <AccountFields haulerId={haulerId} accountId={query.get('accountId')} />
      ) : (
        <FootageFields />
      )}
    </Form>
  );
}

function Confirmation({ request, erasure }: Counted) {
  const erase = async () => {
    const { id } = await send('POST', '/erasures', request);
    change({ new: undefined, accountId: undefined, erasure: id });
  };
  return (
    <Receipt erasure={erasure}>
      <Form title="Confirm the erasure" submit="Erase for ever" work={erase} onCancel={close}>
        <p class="notice bad">This cannot be undone.</p>
      </Form>
    </Receipt>
  );
}

function AccountFields({ haulerId, accountId }: { haulerId: string | undefined; accountId: string | null }) {
  const { choices } = useHaulers();
  return (
    <>
      <Select name="haulerId" label="Hauler of the account" choices={choices} value={haulerId} isRequired />
      <Input
        name="accountId"
        label="Account"
        value={accountId ?? ''}
        isRequired
        hint="its id, from the page of the account"
      />
    </>
  );
}

function FootageFields() {
  const choices = useVisionChoices() ?? [];
  return (
    <>
      <Select name="connectionId" label="Partner who records the truck" choices={choices} isRequired />
      <Input name="truckId" label="Truck" isRequired hint="as the partner spells it" />
      <Input name="cameraId" label="Camera" hint="empty: all cameras" />
      <Input name="from" label="From" type="datetime-local" isRequired hint="in the time zone of this browser" />
      <Input name="to" label="To" type="datetime-local" isRequired hint="at most 366 days after the start" />
    </>
  );
}

const accountOf = (values: FormData) => ({
  haulerId: fieldText(values, 'haulerId') ?? '',
  accountId: fieldText(values, 'accountId') ?? '',
});

function footageOf(values: FormData) {
  const cameraId = fieldText(values, 'cameraId');
  return {
    connectionId: fieldText(values, 'connectionId') ?? '',
    truckId: fieldText(values, 'truckId') ?? '',
    ...(cameraId === undefined ? {} : { cameraId }),
    from: instantText(values, 'from'),
    to: instantText(values, 'to'),
  };
}
