/** The button under the field after a link was refused. It leads to the solution. */
import type { ErrorCode } from '../../contract/errors.ts'
import { isTemporary } from '../flow/selectors.ts'
import type { Refusal } from '../flow/state.ts'
import type { NextStepProps } from '../link/link-field.tsx'
import { SteamLink, StoreLink } from '../parts/solution-links.tsx'
import { useRestTexts } from '../parts/texts.ts'
import { ReloadPage } from '../screens/reload-page.tsx'
import { Retry } from './retry.tsx'

type Step = 'settings' | 'retry' | 'offer' | 'store' | 'reload'

const STEPS: Partial<Record<string, Step>> = {
  cross_site_token: 'reload',
  trade_in_progress: 'offer',
  shopper_refused: 'store',
  deposit_closed: 'store',
} satisfies Partial<Record<ErrorCode, Step>>

const stepOf = (refusal: Refusal): Step =>
  STEPS[refusal.code ?? ''] ?? (isTemporary(refusal) ? 'retry' : 'settings')

export function NextStep({ refusal, payment, flow }: NextStepProps) {
  const { texts } = useRestTexts()
  switch (stepOf(refusal)) {
    case 'settings':
      return <SteamLink to="tradeSettings" look="button" />
    case 'store':
      return <StoreLink url={payment.backToStoreUrl} isPrimary />
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
