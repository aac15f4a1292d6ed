import { useState } from 'preact/hooks';
import type { Attention, AttentionItem } from '../../contracts/admin/attention.dto.js';
import { send } from '../client/api.js';
import type { PathOf } from '../client/contract.js';
import { useLoad, useNow } from '../client/load.js';
import { CHECKS, checksInOrder, type Problem, problemsOf, SEVERITY_TONES, unknownChecks } from './attention.rules.js';
import { ActionButton } from './forms.js';
import { Clock, NotKnown, Reading, type ReadingState, useReading } from './reading.js';
import { Badge, Card, ErrorBox, Loading } from './states.js';
import { formatCount } from './values.js';

const LIVE_MS = 10_000;
const FIRST_PROBLEMS = 10;
const HOME = '/console/';
const GUIDE = '/docs/guides/operator#monitor';

/** What needs attention, as the service ranks it, and what was looked at: for the admin of a service, or a partner of its connection. */
export function AttentionList() {
  const attention = useLoad('/attention', {}, LIVE_MS);
  const { data, error, reload } = attention;
  const reading = useReading(attention);
  return (
    <>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {data === undefined && error === undefined && <Loading />}
      {data !== undefined && data.total > 0 && <Problems attention={data} reading={reading} of={attention} />}
      {(data !== undefined || error !== undefined) && <Checks attention={data} reading={reading} />}
    </>
  );
}

interface ProblemsProps {
  readonly attention: Attention;
  readonly reading: ReadingState;
  readonly of: Parameters<typeof Reading>[0]['of'];
}

function Problems({ attention: { data, total }, reading: { isKnown }, of }: ProblemsProps) {
  const [isWhole, setWhole] = useState(false);
  const now = useNow(LIVE_MS);
  const problems = problemsOf(data);
  const shown = isWhole ? problems : problems.slice(0, FIRST_PROBLEMS);
  const badge = (
    <>
      <Badge value={formatCount(problems.length)} tone={isKnown ? 'bad' : 'plain'} /> <Reading of={of} />
    </>
  );
  return (
    <Card title="Needs attention" badge={badge} kind={isKnown ? '' : 'old'}>
      <ol class="needs">
        {shown.map((problem) => (
          <ProblemLine key={keyOf(problem.lead)} problem={problem} now={now} />
        ))}
      </ol>
      {shown.length < problems.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show {formatCount(problems.length - shown.length)} more
        </button>
      )}
      {isWhole && total > data.length && (
        <p class="hint">and {formatCount(total - data.length)} findings of lower rank, which are not listed</p>
      )}
    </Card>
  );
}

const keyOf = ({ kind, connection, subject, page }: AttentionItem) => `${kind} ${connection?.id} ${subject} ${page}`;

function ProblemLine({ problem: { lead, others, severity, since, deadline }, now }: { problem: Problem; now: number }) {
  const { kind, hauler, connection } = lead;
  return (
    <li class={severity}>
      <Badge value={severity} tone={SEVERITY_TONES[severity]} />
      <div>
        <Sentence of={lead} />
        <p class="hint">{[CHECKS[kind].title, hauler?.name, connection?.interface].filter(Boolean).join(' · ')}</p>
        {others.length > 0 && (
          <details>
            <summary>
              {formatCount(others.length)} more {others.length === 1 ? 'finding' : 'findings'} of the same cause
            </summary>
            <ul>
              {others.map((each) => (
                <li key={keyOf(each)}>
                  <Sentence of={each} />
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      <p class="hint age">
        since <Age at={since} now={now} />
        {deadline !== undefined && (
          <>
            , <Age at={deadline} now={now} /> {Date.parse(deadline) > now ? 'left' : 'over'}
          </>
        )}
      </p>
      <Act items={[lead, ...others]} />
    </li>
  );
}

const Sentence = ({ of: { page, sentence } }: { of: AttentionItem }) => (
  <p>{page === HOME ? sentence : <a href={page}>{sentence}</a>}</p>
);

/** One press is safe for what is only asked or fetched again. All else is done at the page. */
function Act({ items }: { items: readonly AttentionItem[] }) {
  const [lead] = items;
  if (lead === undefined) return null;
  const { act } = CHECKS[lead.kind];
  const calls = items.flatMap(({ kind, action }) => (CHECKS[kind].act === act && action !== undefined ? [action] : []));
  if (calls.length === 0 || lead.kind === 'refused-keys') {
    return (
      <a class="button" href={lead.page === HOME ? GUIDE : lead.page}>
        {act}
      </a>
    );
  }
  return (
    <ActionButton
      label={act}
      work={() => Promise.all(calls.map(({ method, path, body }) => send(method, path as PathOf<'POST'>, body)))}
    />
  );
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** How long ago, or how long until: `3 h`; the time itself on hover. */
export function Age({ at, now }: { at: string; now: number }) {
  const ms = Math.abs(now - Date.parse(at));
  const [unit, size] = UNITS.find(([, each]) => ms >= 2 * each) ?? (['s', 1_000] as const);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {Math.floor(ms / size)} {unit}
    </time>
  );
}

/** One line. A check that could not be made says nothing, and without a reading none says anything. */
function Checks({
  attention,
  reading: { isKnown, at, freshness },
}: {
  attention: Attention | undefined;
  reading: ReadingState;
}) {
  if (attention === undefined || !isKnown) {
    return (
      <p class="checks unknown" role="status">
        <NotKnown since={at} hasFailed={freshness === 'failed'} />
      </p>
    );
  }
  const [passed, unknown] = [checksInOrder(attention), unknownChecks(attention)];
  return (
    <details class={`checks ${unknown.length === 0 ? 'passed' : 'partly'}`}>
      <summary>
        {formatCount(passed.length)} {passed.length === 1 ? 'check' : 'checks'} passed
        {unknown.length > 0 && `, ${formatCount(unknown.length)} not known`}
        {at !== undefined && (
          <span class="hint">
            , as of <Clock at={at} />
          </span>
        )}
      </summary>
      <ul>
        {passed.map(({ kind }) => (
          <li key={kind}>{CHECKS[kind].title}</li>
        ))}
        {unknown.map(({ kind, reason }) => (
          <li key={kind} class="unknown">
            {CHECKS[kind].title}: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
