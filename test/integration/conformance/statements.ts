/**
 * The statements of sections 2.1 to 9 of the interface document, and the rules that observe each of them:
 * `section | field of the contract | statement | rules`. `A..B` are all rules from A to B. A field is named as in docs/openapi:
 * `operation request path`, `operation answer path` or `operation query name`.
 */
export const STATEMENTS = `
1 | | updatedAt shows when a record changed | SITE-072
1 | | a clip is polled by its requestId, listed once it is prepared, and downloaded | VISION-301..303 VISION-307 VISION-360..361 PLATFORM-031..032 PLATFORM-060
2.1 | | an error has success: false, error.code and error.message; details is an object | SITE-051 SITE-053 SITE-055 SITE-061 SITE-063 SITE-065 VISION-051 VISION-053 VISION-055 VISION-061 VISION-063 VISION-065 VISION-067 VISION-069 VISION-071 VISION-073 VISION-075 VISION-171 VISION-173 VISION-175 VISION-177 VISION-181 VISION-183 VISION-185 VISION-187 VISION-189 VISION-191 VISION-193 VISION-195 VISION-197 VISION-199 VISION-211 VISION-213 VISION-215 VISION-221 VISION-223 VISION-231 VISION-233 VISION-235 VISION-237 VISION-239 VISION-241 VISION-243 VISION-245 VISION-247 VISION-249 VISION-251 VISION-253 VISION-255 VISION-257 SCALE-002 SCALE-004 SCALE-006 SCALE-008 SCALE-010 SCALE-101 SCALE-161
2.1 | | an error of the continuous list has no details | VISION-178
2.2 | createTicket request siteId | required, a UUID | SCALE-100..103 PARTNER-010
2.2 | createTicket request materials | required, an array of at least one material | SCALE-104..107 SCALE-150..153 PARTNER-011
2.2 | createTicket request materials[].id | required, a UUID | SCALE-108..111 PARTNER-012
2.2 | createTicket request materials[].name | required, text | SCALE-112..115 PARTNER-013
2.2 | createTicket request materials[].quantity | required, a number | SCALE-116..119 PARTNER-014
2.2 | createTicket request materials[].unitPriceCents | a number with fractions, or absent | SCALE-120..121 SCALE-027 SCALE-028 PARTNER-015
2.2 | createTicket request materials[].unitOfMeasure | required, one of seven units | SCALE-122..125 SCALE-029 PARTNER-016
2.2 | createTicket request inboundFlow | an object, or absent | SCALE-126..127 SCALE-028 PARTNER-017
2.2 | createTicket request inboundFlow.ticketNumber | required, text | SCALE-128..131 PARTNER-018
2.2 | createTicket request inboundFlow.updatedAt | required, a date-time: when the flow was last updated | SCALE-132..135 PARTNER-019 PARTNER-050 PARTNER-052
2.2 | createTicket request outboundFlow | an object, or absent | SCALE-142..143 SCALE-027 PARTNER-020
2.2 | createTicket request outboundFlow.ticketNumber | required, text | SCALE-136..137 SCALE-144..145 PARTNER-021
2.2 | createTicket request outboundFlow.updatedAt | required, a date-time | SCALE-146..149 PARTNER-022
2.2 | createTicket request customFields | an object whose values are text, or absent | SCALE-138..141 SCALE-027 PARTNER-023
2.2 | | the body has these fields | PARTNER-024
2.3 | createTicket answer success | true | SCALE-023
2.3 | createTicket answer disposalTicketId | a UUID | SCALE-024
2.4 | createAccount request accountName | required, text of 1 to 200 characters | ACCOUNT-001..002 ACCOUNT-100..105 ACCOUNT-060 PARTNER-030
2.4 | createAccount request billingAddress | an object, or absent; each of its fields is optional | ACCOUNT-106..107 ACCOUNT-030 ACCOUNT-080 PARTNER-031
2.4 | createAccount request billingAddress.street | text of at most 100 characters | ACCOUNT-108..109 ACCOUNT-138..139 ACCOUNT-061 PARTNER-032
2.4 | createAccount request billingAddress.unit | text of at most 20 characters | ACCOUNT-110..111 ACCOUNT-140..141 ACCOUNT-062 PARTNER-033
2.4 | createAccount request billingAddress.city | text of at most 50 characters | ACCOUNT-112..113 ACCOUNT-142..143 ACCOUNT-063 PARTNER-034
2.4 | createAccount request billingAddress.state | the code of a US state in two upper-case letters | ACCOUNT-114..117 ACCOUNT-144..145 ACCOUNT-162..163 PARTNER-035
2.4 | createAccount request billingAddress.country | text of at most 50 characters | ACCOUNT-118..119 ACCOUNT-146..147 ACCOUNT-064 PARTNER-036
2.4 | createAccount request billingAddress.zip | five digits, or five digits, a hyphen and four digits | ACCOUNT-120..123 ACCOUNT-148..149 ACCOUNT-065 ACCOUNT-030 PARTNER-037
2.4 | createAccount request primaryContact | an object, or absent; each of its fields is optional | ACCOUNT-124..125 ACCOUNT-030 ACCOUNT-080 PARTNER-038
2.4 | createAccount request primaryContact.firstName | text of at most 50 characters | ACCOUNT-126..127 ACCOUNT-150..151 ACCOUNT-066 PARTNER-039
2.4 | createAccount request primaryContact.lastName | text of at most 50 characters | ACCOUNT-128..129 ACCOUNT-152..153 ACCOUNT-067 PARTNER-040
2.4 | createAccount request primaryContact.email | an e-mail address of at most 100 characters | ACCOUNT-130..133 ACCOUNT-154..155 ACCOUNT-069 PARTNER-041
2.4 | createAccount request primaryContact.phone | digits, spaces, parentheses, dashes and a leading + | ACCOUNT-134..137 ACCOUNT-156..157 ACCOUNT-068 ACCOUNT-030 PARTNER-042
2.4 | | the body has these fields | PARTNER-043
2.4 | | only accountName is required | ACCOUNT-020 ACCOUNT-080
2.5 | createAccount answer accountId | text | ACCOUNT-023
2.5 | createAccount answer accountNumber | text | ACCOUNT-024
2.5 | createAccount answer accountName | that of the request | ACCOUNT-025
2.5 | createAccount answer billingAddress | that of the request, with an addressId | ACCOUNT-040..046
2.5 | createAccount answer billingAddress.street | that of the request | ACCOUNT-040
2.5 | createAccount answer billingAddress.unit | that of the request | ACCOUNT-041
2.5 | createAccount answer billingAddress.city | that of the request | ACCOUNT-042
2.5 | createAccount answer billingAddress.state | that of the request | ACCOUNT-043
2.5 | createAccount answer billingAddress.country | that of the request | ACCOUNT-044
2.5 | createAccount answer billingAddress.zip | that of the request | ACCOUNT-045
2.5 | createAccount answer billingAddress.addressId | text | ACCOUNT-046
2.5 | createAccount answer primaryContact | that of the request, with a contactId | ACCOUNT-050..054
2.5 | createAccount answer primaryContact.firstName | that of the request | ACCOUNT-050
2.5 | createAccount answer primaryContact.lastName | that of the request | ACCOUNT-051
2.5 | createAccount answer primaryContact.email | that of the request | ACCOUNT-052
2.5 | createAccount answer primaryContact.phone | that of the request | ACCOUNT-053
2.5 | createAccount answer primaryContact.contactId | text | ACCOUNT-054
2.4a | getSites answer success | true | SITE-004
2.4a | getSites answer data | an object | SITE-005
2.4a | getSites answer data.sites | an array, or absent | SITE-006 SITE-040
2.4a | getSites answer data.sites[].id | a UUID, which identifies the record | SITE-010 SITE-071
2.4a | getSites answer data.sites[].name | text of at most 255 characters | SITE-011
2.4a | getSites answer data.sites[].address | an object, or absent | SITE-012
2.4a | getSites answer data.sites[].address.line1 | required, at most 255 characters | SITE-013
2.4a | getSites answer data.sites[].address.city | required, at most 100 characters | SITE-014
2.4a | getSites answer data.sites[].address.state | required, at most 100 characters | SITE-015
2.4a | getSites answer data.sites[].address.country | required, at most 100 characters | SITE-016
2.4a | getSites answer data.sites[].address.zipCode | required, at most 20 characters | SITE-017
2.4a | getSites answer data.sites[].active | a boolean, or absent | SITE-018
2.4a | getSites answer data.sites[].updatedAt | a date-time, or absent: the last update | SITE-019 SITE-047
2.4a | getSites answer data.kiosks | an array, or absent | SITE-007 SITE-041
2.4a | getSites answer data.kiosks[].id | a UUID | SITE-020
2.4a | getSites answer data.kiosks[].siteId | a UUID, the parent site | SITE-021 SITE-043
2.4a | getSites answer data.kiosks[].name | text of at most 255 characters | SITE-022
2.4a | getSites answer data.kiosks[].active | a boolean, or absent | SITE-023
2.4a | getSites answer data.kiosks[].updatedAt | a date-time, or absent | SITE-024 SITE-048
2.4a | getSites answer data.materials | an array, or absent | SITE-008 SITE-042
2.4a | getSites answer data.materials[].id | a UUID | SITE-030
2.4a | getSites answer data.materials[].siteId | a UUID, the parent site | SITE-031 SITE-037 SITE-044 SITE-046
2.4a | getSites answer data.materials[].kioskId | a UUID, the parent kiosk | SITE-032 SITE-037 SITE-045 SITE-046
2.4a | getSites answer data.materials[].materialType | text of at most 100 characters | SITE-033
2.4a | getSites answer data.materials[].measureUnit | one of six units | SITE-034
2.4a | getSites answer data.materials[].active | a boolean, or absent | SITE-035
2.4a | getSites answer data.materials[].updatedAt | a date-time, or absent | SITE-036 SITE-049
2.5a | requestVideo request customerId | required, text | VISION-230..231 VISION-246..247 PLATFORM-020
2.5a | requestVideo request truckId | required, text | VISION-232..233 VISION-248..249 PLATFORM-021
2.5a | requestVideo request cameraId | required, text | VISION-234..235 VISION-256..257 PLATFORM-022
2.5a | requestVideo request startTime | required, a date-time | VISION-236..237 VISION-240..241 PLATFORM-023
2.5a | requestVideo request endTime | required, a date-time | VISION-238..239 VISION-244..245 PLATFORM-024
2.5a | requestVideo answer success | true | VISION-204
2.5a | requestVideo answer requestId | text | VISION-205
2.5a | requestVideo answer message | text, or absent | VISION-207
3 | requestVideo answer status | processing, ready or failed | VISION-206 PLATFORM-033
2.6 | listContinuous answer success | true | VISION-104
2.6 | listContinuous answer data | an object | VISION-105
2.6 | listContinuous answer data.recordings | an array, or absent | VISION-105
2.6 | listContinuous answer data.recordings[].id | required, the same in each list | VISION-111 VISION-139
2.6 | listContinuous answer data.recordings[].customerId | required | VISION-112
2.6 | listContinuous answer data.recordings[].truckId | required | VISION-113
2.6 | listContinuous answer data.recordings[].cameraId | required | VISION-114
2.6 | listContinuous answer data.recordings[].startTime | required, the start of the chunk | VISION-115 VISION-121
2.6 | listContinuous answer data.recordings[].endTime | required, the end of the chunk | VISION-116 VISION-121
2.6 | listContinuous answer data.recordings[].durationSeconds | required, an integer | VISION-117 VISION-122
2.6 | listContinuous answer data.recordings[].downloadUrl | required, an address that leads to the recording | VISION-118 VISION-160..161
8 | listContinuous answer data.recordings[].expiresAt | every link has one, with ample time | VISION-119 VISION-124..125
8 | | a file is whole, and its download can be resumed | VISION-162..169 VISION-362
8 | | an answer is small enough for the platform | SITE-009 VISION-020 VISION-120 VISION-209 VISION-320
2.6 | listContinuous answer data.pagination | an object, or absent | VISION-131
2.6 | listContinuous answer data.pagination.page | the page | VISION-131..132 VISION-146 VISION-148
2.6 | listContinuous answer data.pagination.pageSize | the elements of a page | VISION-131 VISION-133 VISION-146
2.6 | listContinuous answer data.pagination.totalItems | the elements of all pages | VISION-135..136 VISION-138
2.6 | listContinuous answer data.pagination.totalPages | the number of pages | VISION-134 VISION-137
4.5 | listVideos answer success | true | VISION-004 VISION-304
4.5 | listVideos answer data | an object | VISION-005 VISION-305
4.5 | listVideos answer data.videos | an array | VISION-005..006 VISION-305
4.5 | listVideos answer data.videos[].id | each element has an id, the same in each list | VISION-011 VISION-311 VISION-039
4.5 | listVideos answer data.videos[].customerId | each element names its source | VISION-012 VISION-312
4.5 | listVideos answer data.videos[].truckId | each element names its source | VISION-013 VISION-313
4.5 | listVideos answer data.videos[].cameraId | each element names its source | VISION-014 VISION-314
4.5 | listVideos answer data.videos[].startTime | each element has a time range | VISION-015 VISION-021 VISION-315 VISION-321
4.5 | listVideos answer data.videos[].endTime | each element has a time range | VISION-016 VISION-021 VISION-316 VISION-321
4.5 | listVideos answer data.videos[].durationSeconds | the length of the range | VISION-017 VISION-022 VISION-317 VISION-322
4.5 | listVideos answer data.videos[].downloadUrl | each element has a temporary link | VISION-018 VISION-318
4.5 | listVideos answer data.videos[].requestId | each element may name its request | VISION-309
8 | listVideos answer data.videos[].expiresAt | each link has an expiry, with ample time | VISION-019 VISION-024..025 VISION-319 VISION-324..325 PLATFORM-061
4.5 | listVideos answer data.pagination | the list has page, pageSize, totalItems and totalPages | VISION-007 VISION-031
4.5 | listVideos answer data.pagination.page | the page | VISION-031..032 VISION-082 VISION-084
4.5 | listVideos answer data.pagination.pageSize | the elements of a page | VISION-031 VISION-033 VISION-082
4.5 | listVideos answer data.pagination.totalItems | the elements of all pages | VISION-035..036 VISION-038
4.5 | listVideos answer data.pagination.totalPages | the number of pages | VISION-034 VISION-037
4 | | bodies are application/json in UTF-8 | SITE-002..003 VISION-002..003 VISION-102..103 VISION-202..203 VISION-302..303 SCALE-021..022 ACCOUNT-021..022 ACCOUNT-031 PARTNER-006..007 PLATFORM-006..007
4 | | the body of a refused request is not taken for the next request | SCALE-011 ACCOUNT-011 VISION-216
4.1 | | POST /platform-api/v1/tickets is answered with 200 | SCALE-020
4.1 | | a ticket is sent again when it was updated | SCALE-025..026
4.2 | | POST /platform-api/v1/accounts is answered with 200 | ACCOUNT-020
4.2 | | a request that is sent again is executed once | PARTNER-080..082
4.3 | getSites query haulerId | required, a UUID | SITE-060..063 PLATFORM-010..011
4.3 | | GET /scale-platform/v1/sites is answered with 200 | SITE-001 SITE-070
4.3 | | the whole list is read from the server that was called | PLATFORM-017..018
4.4 | | POST /video-platform/v1/videos/requests is answered with 202 and processing | VISION-201 VISION-208 PLATFORM-030
4.4 | | the clip is of the requested range | VISION-308
4.5 | | GET /video-platform/v1/videos is answered with 200 | VISION-001
4.5 | listVideos query customerId | required | VISION-060..061 VISION-023 VISION-323 PLATFORM-040
4.5 | listVideos query truckId | a filter | VISION-040
4.5 | listVideos query cameraId | a filter | VISION-041
4.5 | listVideos query requestId | a filter, which polls a request | VISION-306 PLATFORM-045
4.5 | listVideos query startTime | a bound, a date-time | VISION-042 VISION-062..063 PLATFORM-043
4.5 | listVideos query endTime | a bound, a date-time; what overlaps the range is listed | VISION-042 VISION-047 VISION-064..065 PLATFORM-044
4.5 | listVideos query page | an integer, default 1 | VISION-032 VISION-068..069 VISION-080 VISION-083 VISION-085 PLATFORM-041
8 | listVideos query pageSize | an integer, default 20, at most 100 | VISION-033 VISION-043..044 VISION-081 PLATFORM-042
4.6 | | GET /video-platform/v1/videos/continuous is answered with 200 | VISION-101
4.6 | listContinuous query customerId | required | VISION-190..191 VISION-123 PLATFORM-050
4.6 | listContinuous query truckId | required | VISION-192..193 VISION-140 PLATFORM-055
4.6 | listContinuous query cameraId | a filter | VISION-142
4.6 | listContinuous query startTime | required, a date-time | VISION-141 VISION-194..195 VISION-198..199 PLATFORM-053
4.6 | listContinuous query endTime | required, a date-time; what overlaps the range is listed | VISION-141 VISION-154 VISION-196..197 VISION-186..187 PLATFORM-054 PLATFORM-056
4.6 | listContinuous query page | an integer, default 1 | VISION-132 VISION-188..189 VISION-144 VISION-147 VISION-149 PLATFORM-051 PLATFORM-058
8 | listContinuous query pageSize | an integer, default 20, at most 100 | VISION-133 VISION-145 VISION-150..151 PLATFORM-052
4.6 | | chunks have a constant duration | VISION-143
4.6 | | all pages of a range are read: the same elements, each once, oldest first | VISION-126..130 VISION-152..153 VISION-155
4.5 | | all pages of a list are read: the same elements, each once, oldest first | VISION-026..030 VISION-045..046 VISION-048
4 | | only these paths and methods exist | PARTNER-001 PLATFORM-001
5 | | a missing, wrong or misplaced key is answered with 401 | SITE-050 SITE-052 SITE-054 VISION-050 VISION-052 VISION-054 VISION-180 VISION-182 VISION-184 VISION-210 VISION-212 VISION-214 SCALE-005 SCALE-007 SCALE-009 ACCOUNT-005 ACCOUNT-007 ACCOUNT-009
5 | | the key is sent in its header, and nowhere else | PARTNER-002..005 PLATFORM-002..005 PLATFORM-008 PLATFORM-019
6 | | readiness is learned by polling | PLATFORM-031..032
7 | createTicket status 400 | INVALID_PAYLOAD for an invalid payload | SCALE-001..004 PARTNER-066
7 | createTicket status 401 | UNAUTHORIZED | SCALE-006 SCALE-008 SCALE-010
7 | createTicket status 422 | VALIDATION_ERROR for an unknown material or site | SCALE-160..163 PARTNER-067
7 | createTicket status 500 | INTERNAL_ERROR | SCALE-164 PARTNER-064..065
7 | createAccount status 400 | invalid input | ACCOUNT-003..004 ACCOUNT-101 ACCOUNT-103 PARTNER-076
7 | createAccount status 401 | missing or wrong key | ACCOUNT-006 ACCOUNT-008 ACCOUNT-010
7 | createAccount status 409 | an account of the same name exists | ACCOUNT-070..071 PARTNER-077
7 | createAccount status 500 | INTERNAL_ERROR | ACCOUNT-164 PARTNER-074..075
7 | getSites status 400 | INVALID_PAYLOAD without a valid haulerId | SITE-060..063
7 | getSites status 401 | UNAUTHORIZED | SITE-051 SITE-053 SITE-055
7 | getSites status 404 | NOT_FOUND where no data exists | SITE-064..065
7 | getSites status 500 | INTERNAL_ERROR | SITE-066 PLATFORM-016
7 | requestVideo status 400 | INVALID_PAYLOAD for a missing or malformed field | VISION-220..223 VISION-242..243 PLATFORM-025 PLATFORM-029
7 | requestVideo status 401 | UNAUTHORIZED | VISION-211 VISION-213 VISION-215
7 | requestVideo status 404 | NOT_FOUND for an unknown customer, truck or camera | VISION-250..255
7 | requestVideo status 500 | INTERNAL_ERROR | VISION-258 PLATFORM-028
7 | listVideos status 400 | INVALID_PAYLOAD | VISION-060..067
7 | listVideos status 401 | UNAUTHORIZED | VISION-051 VISION-053 VISION-055
7 | listVideos status 404 | NOT_FOUND for an unknown customer, truck or camera | VISION-070..075
7 | listVideos status 500 | INTERNAL_ERROR | VISION-076
7 | listContinuous status 400 | INVALID_PAYLOAD | VISION-170..171 VISION-190..199
7 | listContinuous status 401 | UNAUTHORIZED | VISION-181 VISION-183 VISION-185
7 | listContinuous status 404 | NOT_FOUND for an unknown customer, truck or camera | VISION-172..177
7 | listContinuous status 500 | INTERNAL_ERROR | VISION-179 PLATFORM-057
7 | | a server that is overloaded is called again later | PARTNER-062..063 PARTNER-072..073 PLATFORM-014..015
8 | | links are temporary: each file is fetched in time, once, and resumed | PLATFORM-060..065
8 | | a rate limit is respected | PARTNER-060..061 PARTNER-070..071 PLATFORM-012..013 PLATFORM-026..027
9 | | the major version is part of every path | SITE-001 VISION-001 VISION-101 VISION-201 SCALE-020 ACCOUNT-020 PARTNER-001 PLATFORM-001
`;
