import type { ErrorCode, RefusalCause } from '../../contract/errors.ts'
import type { Flow } from '../flow/runner.ts'
import type { Refusal } from '../flow/state.ts'
import { formatTime } from '../i18n/format.ts'
import { SteamLink, StoreLink } from '../parts/solution-links.tsx'
import type { SteamPage } from '../steam-pages.ts'
import { Dialog } from '../ui/dialog.tsx'
import { WarningIcon } from '../ui/icons.tsx'
import { useModalTexts } from './texts.ts'

/** The page to go to, by the refusal's cause or else by its code. */
const SOLUTIONS: Partial<Record<string, SteamPage | 'store'>> = {
  trade_hold: 'guard',
  trade_refused: 'restrictions',
  too_many_open_offers: 'offers',
  deposit_closed: 'store',
  shopper_refused: 'store',
  link_expired: 'tradeSettings',
  trade_ban: 'store',
} satisfies Partial<Record<ErrorCode | RefusalCause, SteamPage | 'store'>>

type Props = { refusal: Refusal; backToStoreUrl: string; flow: Flow }

export function CreationError({ refusal, backToStoreUrl, flow }: Props) {
  const { texts, language } = useModalTexts()
  const close = (): void => flow.dispatch({ kind: 'creationErrorClosed' })
  const { code, cause = '' } = refusal
  const ourText = texts.creationCauses[cause] ?? (code === null ? undefined : texts.creationErrors[code])
  const paused =
    code === 'offers_paused' && refusal.until !== undefined
      ? texts.offersPaused(formatTime(refusal.until, language))
      : undefined
  const solution = SOLUTIONS[cause] ?? SOLUTIONS[code ?? '']
  // The server's text would add nothing to ours.
  const needsNoDetail = code === null || code === 'trade_refused'
  return (
    <Dialog className="dialog-outcome dialog-refused" onClose={close}>
      {(titleId) => (
        <>
          <span className="outcome-icon outcome-bad">
            <WarningIcon />
          </span>
          <h2 id={titleId}>{texts.creationErrorTitle}</h2>
          <p>
            {paused ??
              ourText ??
              (needsNoDetail ? texts.creationErrorText : (refusal.detail ?? texts.creationErrorText))}
          </p>
          <div className="solutions">
            {solution === 'store' && <StoreLink url={backToStoreUrl} isPrimary />}
            {solution !== undefined && solution !== 'store' && <SteamLink to={solution} />}
            {cause === 'account_restricted' && <SteamLink to="privacy" look="link" />}
            <button
              type="button"
              className={solution === undefined ? 'button primary' : 'button'}
              onClick={close}
            >
              {texts.close}
            </button>
            {code === 'no_bot_available' && <StoreLink url={backToStoreUrl} />}
          </div>
        </>
      )}
    </Dialog>
  )
}
