import type { Change } from '../client/links.js';
import { getCsv } from '../client/api.js';
import { useSession } from '../client/session.js';
import { ActionButton } from './forms.js';

interface CsvButtonProps {
  /** A list of the admin API. */
  readonly path: string;
  /** The filters of the page. */
  readonly filters: Change;
}

const WHOLE = { page: undefined, cursor: undefined, pageSize: undefined };

/** Saves every row of a list with its filters, for a spreadsheet. */
export function CsvButton({ path, filters }: CsvButtonProps) {
  const { isPartner } = useSession();
  if (isPartner) return null;
  const save = async () => {
    const { name, content } = await getCsv(path, { ...filters, ...WHOLE });
    const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(content), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
  };
  return (
    <p class="actions">
      <ActionButton label="Save as CSV" busy="Saving …" isRead work={save} />
    </p>
  );
}
