import type { Connection } from '../../contracts/admin/connection.dto.js';
import { Badge } from './states.js';

export function ConnectionState({ connection: { enabled, lastError } }: { connection: Connection }) {
  return (
    <>
      <Badge
        value={enabled ? (lastError === null ? 'enabled' : 'failing') : 'paused'}
        tone={lastError === null ? undefined : 'bad'}
      />
      {lastError !== null && <div class="hint clamp">{lastError}</div>}
    </>
  );
}
