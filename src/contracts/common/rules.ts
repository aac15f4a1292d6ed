/** Why a value breaks a rule, and what to do. */
export interface ErrorHelp {
  readonly cause: string;
  readonly remedy: string;
}

export const help = (cause: string, remedy: string): ErrorHelp => ({ cause, remedy });

const SYNCHRONISE =
  'Send your own id, as your Site interface lists it. The platform reads your sites again: send the ticket again in a minute, with another `Idempotency-Key`.';

/** Every `rule` of a violation. `docs/errors.md` is made from it. */
export const RULES = {
  isDefined: help('A required field is absent or `null`.', 'Send the field.'),
  isObject: help('The value is no JSON object.', 'Send an object in braces.'),
  isArray: help(
    'The value is no array, or has too few or too many elements.',
    'Send an array with as many elements as the message says.',
  ),
  isString: help('The value is no text.', 'Send text in quotation marks.'),
  isText: help('The text has U+0000 or half of a surrogate pair.', 'Remove what is not valid Unicode text.'),
  isLength: help(
    'The text is too short, too long, or blank.',
    'Send text of the length that the message says. Unicode code points are counted.',
  ),
  matches: help('The text does not have the form of the field.', 'Write it as the message says.'),
  isEmail: help('The text is no e-mail address.', 'Send an address such as `dana@example.com`.'),
  isEnum: help(
    'The value is not one of the allowed ones.',
    'Send one of those that the message lists, with the same case.',
  ),
  isUuid: help(
    'The value is no UUID.',
    'Send 32 hexadecimal digits with hyphens, such as `3f2b8c1e-5d4a-4f6b-9c7d-8e9f0a1b2c3d`.',
  ),
  isBoolean: help('The value is neither `true` nor `false`.', 'Send `true` or `false` without quotation marks.'),
  isNumber: help('The value is no finite number.', 'Send a JSON number without quotation marks.'),
  isInteger: help(
    'The value is no whole number in the allowed range.',
    'Send a whole number in the range that the message says.',
  ),
  isInstant: help(
    'The value is no time with an offset.',
    'Send RFC 3339 with an offset, such as `2026-01-31T08:30:00Z`.',
  ),
  isTextMap: help(
    'A value of the map is no text, a name or text is too long, or there are too many.',
    'Send every value as text, within the limits that the message says.',
  ),
  isRange: help(
    'The end is not after the start, or the range is too long.',
    'Send an end after the start, within the length that the message says.',
  ),
  isPast: help(
    'The time lies in the future, or is too recent.',
    'Send an earlier time. Check the clock of your system.',
  ),
  isUtf8: help('The body is not UTF-8.', 'Encode the body as UTF-8.'),
  isJson: help('The body is no JSON.', 'Write the body with a JSON serializer. The message names line and column.'),
  isReadable: help(
    'The body cannot be read, for example because its compression is damaged.',
    'Send the body again, without compression.',
  ),
  isCsv: help(
    'The file is no CSV in UTF-8.',
    'Correct the line that the message names, or save the file as CSV UTF-8.',
  ),
  isColumn: help(
    'The first line names an unknown column, a column twice, or lacks a required one.',
    'Write the names as the export has them, or remove the column.',
  ),
  isCellCount: help(
    'The row has more or fewer cells than there are columns.',
    'Check the quotation marks and separators of the row.',
  ),
  isOwnHauler: help(
    'The row belongs to another hauler than the one that is imported for.',
    'Filter the export by hauler, or remove the column.',
  ),
  isSameAccount: help(
    'The number belongs to an account with another name. An import changes no account.',
    'Correct the name, or leave the number empty for a new account.',
  ),
  maxDepth: help('Objects and arrays are nested too deeply.', 'Nest at most 32 levels.'),
  maxFaults: help('There are more faults than the error lists.', 'Correct those that are listed first.'),
  maxSize: help('One record is too large.', 'Send a smaller record.'),
  siteExists: help('The platform has no site with this id for your hauler.', SYNCHRONISE),
  materialExists: help('The platform has no material with this id for your hauler.', SYNCHRONISE),
  materialOfSite: help(
    'The material belongs to another site than the ticket.',
    'Send a material of the site, or correct the link in your Site interface.',
  ),
  flowConflict: help(
    'The two flows of the push belong to two different tickets.',
    'Send each flow with the ticket that it belongs to. The message names both.',
  ),
  updatedAtInFuture: help(
    '`updatedAt` is more than 24 hours ahead of the clock of the platform.',
    'Set the clock of your system, and send the time of the last change.',
  ),
  isNewKey: help(
    'The `Idempotency-Key` was used with another body.',
    'Use a new key for a new request, and the same bytes for a repeat.',
  ),
  isIdempotencyKey: help(
    '`Idempotency-Key` is empty, too long, repeated, or has other characters than visible ASCII.',
    'Send one key of 1 to 255 visible ASCII characters.',
  ),
  hasParent: help('The material names neither a site nor a kiosk.', 'Send `siteId`, `kioskId`, or both.'),
  isListed: help(
    'The answer has no array of this kind, which earlier answers had.',
    'Send the array under its name, also if it is empty.',
  ),
  kioskOfSite: help(
    'The kiosk of the material belongs to another site than the material.',
    'Send the site of the kiosk as `siteId`, or leave `siteId` out.',
  ),
  isUnique: help('An earlier element has the same id.', 'List each id once.'),
  isTrue: help(
    '`success` is not `true` in an answer with status 200.',
    'Answer a failure with its status and the error body.',
  ),
  isRecords: help(
    'The list of sites is not in the form of the interface.',
    'Send the arrays inside of `data`, each once.',
  ),
  isList: help(
    'The list of videos is not in the form of the interface.',
    'Send the array of elements inside of `data`, with `pagination`.',
  ),
  isAcknowledgement: help(
    'The answer to a request for a clip has no `requestId` or `status`.',
    'Answer 202 with `success`, `requestId` and `status`.',
  ),
  isMp4: help('The file is no whole MP4.', 'Send the whole file.'),
  isKnown: help('The id or name is unknown.', 'Send one that exists. The message says of what.'),
  isRequired: help('The field is required together with another one of the request.', 'Send both.'),
  isAbsent: help('The field excludes another one of the request.', 'Send one of the two.'),
  isAlone: help('Two parameters exclude each other.', 'Send one of them.'),
  isCursor: help(
    'The cursor is none of this list.',
    'Take `pagination.next` of the last answer, with the same filters.',
  ),
  max: help('The page begins beyond row 10,000.', 'Go on with the `cursor` of the message.'),
  isAddress: help(
    'The address may not be called.',
    'Use `https`, a public host, and no user name or key in the address.',
  ),
  isReference: help(
    'The reference is not `kind:value`.',
    'Send a kind that the message lists, a colon, and the exact value.',
  ),
  isOneOf: help('Neither or both of two fields are there.', 'Send one of them.'),
  isSiteConnection: help(
    'The connection is not one for sites.',
    'Send the id of a connection whose interface is `site`.',
  ),
  isScenario: help(
    'There is no such scenario for this route.',
    'Send one that `GET /partner/v1/sandbox/scenarios` lists.',
  ),
  isSubject: help(
    'The scenario does not act on this subject.',
    'Choose one that the catalogue names for the scenario.',
  ),
  isBounded: help('The scenario would have no end.', 'Send `times` or `forSeconds`.'),
  isParameter: help(
    'The scenario has no such parameter, or its value is out of range.',
    'Send a parameter that the catalogue lists.',
  ),
  isParameters: help('The parameters are no object of at most ten numbers and texts.', 'Send such an object.'),
  isWithinKey: help(
    'A limited key cannot start a scenario for all callers.',
    'Send the header `Sandbox-Scenario` with the call, or use a magic value.',
  ),
  isForVision: help(
    'The field is only for keys of the Vision interface.',
    'Leave it out, or add `vision` to the interfaces.',
  ),
  isFuture: help('The time has passed.', 'Send a later time.'),
  needsFilter: help('The call would replay every exchange.', 'Send at least one filter.'),
  matchesFew: help('Too many exchanges match.', 'Narrow the filter with `from` and `to`.'),
} as const satisfies Readonly<Record<string, ErrorHelp>>;

export type RuleName = keyof typeof RULES;
