import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import { ListQuery } from './list.dto.js';
import {
  type AdminRoutes,
  change,
  FOR_OPERATORS,
  FOR_VIEWERS,
  list,
  listOfOne,
  removeWithPreview,
} from './route-helpers.js';
import {
  CreatedRecordingShare,
  CreateRecordingShare,
  RecordingShare,
  SHARE_EXAMPLES,
  ShareQuery,
  ShareRemoval,
} from './share.dto.js';

/** Links by which people without an account see a recording, for a dispute. */
export const SHARE_ROUTES = {
  createRecordingShare: change(FOR_OPERATORS, 'POST', '/recordings/{id}/shares', 'recording', {
    summary: 'Share a recording by a link',
    description:
      'Anyone who has the link sees the recording and its ticket, without an account, until the link expires or is revoked. Only this response shows the link. Its page asks first. Each playback is in the action log.',
    body: CreateRecordingShare,
    response: CreatedRecordingShare,
    examples: SHARE_EXAMPLES,
    status: 201,
    isSecret: true,
    fails: { conflict: 'The recording is not stored' },
  }),
  listRecordingShares: listOfOne(FOR_VIEWERS, '/recordings/{id}/shares', 'recording', RecordingShare, ListQuery, {
    summary: 'List the links of a recording',
    description: 'Newest first, without the links themselves.',
  }),
  listShares: list(FOR_VIEWERS, '/shares', RecordingShare, ShareQuery, {
    summary: 'List the links to recordings',
    description: 'Newest first, without the links themselves.',
  }),
  revokeShare: removeWithPreview(FOR_OPERATORS, '/shares/{id}', 'link', ShareRemoval, {
    summary: 'Revoke a link to a recording',
    description: 'At once, also for those who have its page open.',
    returns: 'The link is revoked',
  }),
} as const satisfies AdminRoutes;

const OPEN = {
  status: 200,
  role: 'anyone',
  resource: 'share',
  fails: { notFound: 'The link does not work', tooManyRequests: 'Too many links that do not work' },
} as const;

/** The pages of links, which no document describes. */
export const SHARED_API = defineApi({
  name: 'service',
  title: 'Shared recordings',
  version: '1.0.0',
  prefix: '/shared',
  keyHeader: 'Authorization',
  isHidden: true,
  routes: {
    openShare: {
      ...OPEN,
      method: 'GET',
      path: '/{token}',
      summary: 'Open the page of a link',
      description: 'It shows nothing of the recording, because programs that preview links open it too.',
      returns: 'The page, with a button',
    },
    viewShare: {
      ...OPEN,
      method: 'POST',
      path: '/{token}',
      summary: 'Show the recording of a link',
      description: 'The button of the page sends it.',
      returns: 'The page with the player',
    },
    playShare: {
      ...OPEN,
      method: 'GET',
      path: '/{token}/content',
      summary: 'Play the recording of a link',
      description: 'Until the link ends. It is in the action log.',
      file: 'video/mp4',
      returns: 'The file',
    },
  },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'NOT_FOUND', 'INTERNAL_ERROR'],
  errors: { ...COMMON_ERRORS, notFound: 'NOT_FOUND', rangeNotSatisfiable: 'INVALID_PAYLOAD' },
});
