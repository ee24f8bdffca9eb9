/** The button under the field after a refused link: the next step. */
import type { ErrorCode } from '../../contract/errors.ts'
import { isUnjudged } from '../flow/selectors.ts'
import type { Refusal } from '../flow/state.ts'
import type { DoorProps } from '../link/link-field.tsx'
import { SteamDoor, StoreDoor } from '../parts/doors.tsx'
import { useRest } from '../parts/texts.ts'
import { ReloadPage } from '../screens/reload-page.tsx'
import { Retry } from './retry.tsx'

type Door = 'settings' | 'retry' | 'offer' | 'store' | 'reload'

const DOORS: Partial<Record<string, Door>> = {
  cross_site_token: 'reload',
  trade_in_progress: 'offer',
  shopper_refused: 'store',
  deposit_closed: 'store',
} satisfies Partial<Record<ErrorCode, Door>>

/** Returns the solution: another link, the same link again, or a page elsewhere. */
const doorOf = (refusal: Refusal): Door =>
  DOORS[refusal.code ?? ''] ?? (isUnjudged(refusal) ? 'retry' : 'settings')

export function LinkDoor({ refusal, payment, flow }: DoorProps) {
  const { texts } = useRest()
  switch (doorOf(refusal)) {
    case 'settings':
      return <SteamDoor to="tradeSettings" look="button" />
    case 'store':
      return <StoreDoor url={payment.backToStoreUrl} primary />
    case 'reload':
      return <ReloadPage />
    case 'retry':
      return <Retry flow={flow} />
    case 'offer':
      return (
        <button
          type="button"
          className="button primary"
          onClick={() => flow.dispatch({ kind: 'confirmationReopened' })}
        >
          {texts.offerReturn}
        </button>
      )
  }
}
