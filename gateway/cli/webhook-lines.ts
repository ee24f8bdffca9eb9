import type { AttemptPage, EndpointPage } from '../operations/webhooks.ts'

export const endpointLines = ({ endpoints, next }: EndpointPage): string[] => [
  ...endpoints.map((endpoint) => {
    const { endpointId, storeId, store, url, state, disabledReason, retrying } = endpoint
    const { givenUp, givenUpFrom, givenUpTo } = endpoint
    const { failingSince, lastAttempt } = endpoint
    return [
      endpointId,
      disabledReason === null ? state : `${state} (${disabledReason})`,
      `store ${storeId} (${store})`,
      url,
      ...(retrying === 0
        ? []
        : [`${retrying} will be retried, failing since ${failingSince?.toISOString()}`]),
      ...(givenUp === 0 ? [] : [`${givenUp} given up, events ${givenUpFrom} to ${givenUpTo}`]),
      ...(lastAttempt === null
        ? []
        : [`last ${lastAttempt.at.toISOString()}: ${resultText(lastAttempt.status, lastAttempt.failure)}`]),
    ].join('\t')
  }),
  ...(next === null ? [] : [`There are more: --after ${next}`]),
]

const resultText = (status: number | null, failure: string | null): string =>
  status === null ? (failure ?? 'no answer') : `status ${status}`

export const attemptLines = ({ attempts, next }: AttemptPage): string[] => [
  ...attempts.map(({ attemptId, at, type, sequence, attempt, durationMs, status, failure }) =>
    [
      attemptId,
      at.toISOString(),
      `event ${sequence ?? 'without a number'}: ${type}`,
      `attempt ${attempt}`,
      `${durationMs} ms`,
      resultText(status, failure),
    ].join('\t'),
  ),
  ...(next === null ? [] : [`More follow: --before ${next}`]),
]
