import type { ErrorCode } from '../../contract/errors.ts'
import { isTemporary } from '../flow/selectors.ts'
import type { Refusal } from '../flow/state.ts'
import type { RestTexts } from '../i18n/rest.ts'
import type { TroubleProps } from '../link/link-field.tsx'
import { useRestTexts } from '../parts/texts.ts'
import { mistakeIn } from './mistakes.ts'
import { Retry } from './retry.tsx'

/** Says why the link in the field cannot be used. `isStale`: Steam knew the account, but has refused the token since. */
export function LinkTrouble({ link, isStale, flow }: TroubleProps) {
  const { texts } = useRestTexts()
  if (isStale) return texts.tradeLinkStale
  if (link.status === 'invalid') return texts.tradeLinkMistakes[mistakeIn(link.text)]
  if (link.status !== 'failed') return null
  const { refusal } = link
  if (refusal.code === 'cross_site_token') return texts.cookiesNeeded
  // Offers no retry: the same link would be refused again.
  if (refusal.code === 'other_shopper') return texts.otherShopper
  if (refusal.code === 'shopper_refused') return texts.shopperRefused
  if (refusal.code === 'trade_in_progress') return texts.linkOfOpenOffer
  return (
    <>
      <strong>{texts.userFailed}.</strong> {hintOf(refusal, texts)}
      {/* If the link could not be checked, the button below asks again instead. */}
      {!isTemporary(refusal) && (
        <>
          {' '}
          <Retry flow={flow} className="link" />
        </>
      )}
    </>
  )
}

/** Returns our text for the code, or else the server's. Blames Steam only if Steam does not answer. */
export function hintOf(refusal: Refusal, texts: RestTexts): string {
  if (refusal.code === 'steam_unavailable') return texts.userUnavailableHint
  if (refusal.code === 'too_many_looks') return texts.userTooManyHint
  if (isTemporary(refusal)) return texts.userUncheckedHint
  return WRONG_LINK.includes(refusal.code) ? texts.userFailedHint : (refusal.detail ?? texts.userFailedHint)
}

/** Codes that mean the link itself is wrong. */
const WRONG_LINK: readonly (string | null)[] = [
  'user_not_found',
  'invalid_trade_link',
  'invalid_request',
] satisfies ErrorCode[]
