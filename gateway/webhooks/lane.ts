/** One lane of one endpoint: claims due deliveries while it has free places, and sends them. */
import { attemptDelivery, type DeliveryDeps, logFieldsOf } from './delivery.ts'
import { type Load, type Pace, placesLeft } from './pace.ts'
import type { Sender } from './sender.ts'
import { type Claim, claimLane, type LaneName } from './store.ts'

export type Lane = {
  wake(): void
  isIdle(): boolean
  /** Resolves when the running attempts have ended. */
  untilIdle(): Promise<void>
}

type Options = {
  endpointId: bigint
  lane: LaneName
  /** The endpoint's pace. Its two lanes share it, so both learn how long the endpoint usually takes. */
  pace: Pace
  signal: AbortSignal
  /** How many stores share the places now, and how many endpoints share the places of this lane's store. */
  storeLoad(): Pick<Load, 'busyStores' | 'ownEndpoints'>
}

export function createLane(deps: DeliveryDeps, options: Options): Lane {
  const { endpointId, lane, pace, signal, storeLoad } = options
  const open = new Set<Promise<void>>()
  let claiming: Promise<void> | undefined
  /** True after a wake-up until the next claim. */
  let isWanted = false

  const watcher = watchHanging(deps.send, pace, () => wake())
  const places = () => placesLeft(lane, { open: open.size, hanging: watcher.hanging(), ...storeLoad() })

  const begin = (claim: Claim): void => {
    const attempt = attemptDelivery({ ...deps, send: watcher.send }, claim, signal)
      .catch((error: unknown) => {
        deps.log.error({ err: error, ...logFieldsOf(claim) }, 'attempt of a webhook could not be recorded')
      })
      .finally(() => {
        open.delete(attempt)
        wake()
      })
    open.add(attempt)
  }
  const claimWhileWanted = async (): Promise<void> => {
    for (let most = places(); isWanted && !signal.aborted && most > 0; most = places()) {
      isWanted = false
      for (const claim of await claimLane(deps, { endpointId, lane }, most)) begin(claim)
    }
  }
  const wake = (): void => {
    isWanted = true
    if (claiming !== undefined || places() === 0 || signal.aborted) return
    claiming = claimWhileWanted()
      .catch((error: unknown) => {
        deps.log.error({ err: error, endpoint: String(endpointId) }, 'due webhooks could not be claimed')
      })
      .finally(() => {
        claiming = undefined
        // A wake-up may have come during the last claim.
        if (isWanted) wake()
      })
  }
  return {
    wake,
    isIdle: () => open.size === 0 && claiming === undefined,
    untilIdle: async () => {
      await claiming
      await Promise.all(open)
    },
  }
}

/**
 * Wraps `send` to call `onHanging` when an attempt takes longer than the endpoint's patience. The attempt then counts
 * as hanging, so another one may take its place.
 */
function watchHanging(send: Sender, pace: Pace, onHanging: () => void): { send: Sender; hanging(): number } {
  const hanging = new Set<object>()
  return {
    hanging: () => hanging.size,
    async send(request) {
      const beganMs = performance.now()
      const call = {}
      const checkPatience = (): void => {
        const leftMs = pace.patienceMs() - (performance.now() - beganMs)
        // Read the patience again each time, because other answers may have shown that this store is slow.
        if (leftMs > 0) timer = setTimeout(checkPatience, Math.ceil(leftMs))
        else {
          hanging.add(call)
          onHanging()
        }
      }
      let timer = setTimeout(checkPatience, pace.patienceMs())
      try {
        const result = await send(request)
        pace.record(result, performance.now() - beganMs)
        return result
      } finally {
        clearTimeout(timer)
        hanging.delete(call)
      }
    },
  }
}
