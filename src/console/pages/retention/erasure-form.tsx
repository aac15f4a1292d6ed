import { useState } from 'preact/hooks';
import type { Erasure } from '../../../contracts/admin/erasure.dto.js';
import { change, type PageProps } from '../../client/address.js';
import { send } from '../../client/api.js';
import type { BodyOf } from '../../client/contract.js';
import { useConnectionChoices, useHaulers } from '../../client/haulers.js';
import { bodyOf, Chooser, Form, Input, instantOf, Select } from '../../parts/forms.js';
import { Receipt } from './erasure-receipt.js';

const KINDS = [
  ['footage', 'Footage of a truck in a range'],
  ['account', 'An account, with all that names it'],
] as const;

type ErasureRequest = BodyOf<'POST', '/erasures'>;

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
    const request = bodyOf<ErasureRequest>(values, { from: instantOf, to: instantOf });
    setCounted({ request, erasure: await send('POST', '/erasures', { ...request, dryRun: true }) });
  };
  if (counted !== undefined) return <Confirmation {...counted} />;
  return (
    <Form title="New erasure" submit="Preview the erasure" work={count} onCancel={close}>
      <p class="hint">Nothing is erased yet: the next step shows what would be, in numbers.</p>
      <Chooser label="What to erase" value={kind} choices={KINDS} onChoose={setKind} />
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
  const choices = useConnectionChoices('vision') ?? [];
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
