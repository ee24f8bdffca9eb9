import { useEffect, useState } from 'react'
import type { FinalDepositStatus } from '../../contract/statuses.ts'
import type { Payment } from '../../contract/widget-api.ts'
import { creditOf, needsReading } from '../flow/split.ts'
import { formatDate, formatTime } from '../i18n/format.ts'
import type { ModalTexts } from '../i18n/modals.ts'
import type { ErrorText } from '../i18n/rest.ts'
import { Amount } from '../parts/amount.tsx'
import { SteamLink, StoreLink } from '../parts/solution-links.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SoundOffIcon } from '../ui/icons.tsx'
import { OutsideLink } from '../ui/outside-link.tsx'
import { startAlarm } from './alarm.ts'
import { PaymentMoney } from './money.tsx'
import { type DrawnOutcome, OutcomeIcon } from './outcome-icon.tsx'
import { useModalTexts } from './texts.ts'

type Props = { outcome: FinalDepositStatus; hasAlarm: boolean; payment: Payment }

/** True if a thief with access to the account may have ended the offer. */
const SUSPICIOUS: Record<DrawnOutcome, boolean> = {
  succeeded: false,
  tradeTimeout: false,
  tradeDeclined: true,
  tradeCountered: true,
  tradeHasInvalidItems: false,
}

/** False for `paymentTimeout`, and for a status that only a newer server knows. */
const isDrawn = (outcome: FinalDepositStatus): outcome is DrawnOutcome => Object.hasOwn(SUSPICIOUS, outcome)

export function Completed({ outcome, hasAlarm, payment }: Props) {
  if (!isDrawn(outcome)) return <Closed payment={payment} />
  const isInEscrow = outcome !== 'succeeded' && payment.steamHoldUntil !== null
  return isInEscrow ? (
    <Outcome outcome="tradeHasInvalidItems" hasAlarm={hasAlarm} payment={asAccepted(payment)} />
  ) : (
    <Outcome outcome={outcome} hasAlarm={hasAlarm} payment={payment} />
  )
}

/** The hold proves that the shopper accepted the offer, even if Steam first reported another end of it. */
const asAccepted = (payment: Payment): Payment => ({
  ...payment,
  endedAtOnce: false,
  cancelledByStore: false,
  cancelledElsewhere: false,
  outcomeUnknown: false,
  failedBy: undefined,
})

function Closed({ payment }: { payment: Payment }) {
  const { texts } = useModalTexts()
  return (
    <Dialog className="dialog-outcome" name={texts.depositTo(payment.storeName)}>
      {() => (
        <>
          <p>{texts.closedNote}</p>
          <Numbers payment={payment} />
          <StoreLink url={payment.backToStoreUrl} isPrimary />
          <ReceiptLink payment={payment} />
        </>
      )}
    </Dialog>
  )
}

function Outcome({ outcome, hasAlarm, payment }: Props & { outcome: DrawnOutcome }) {
  const { texts, language } = useModalTexts()
  const receivedText = useReceivedText(payment)
  const { steamHoldUntil, cancelledElsewhere = false, outcomeUnknown = false } = payment
  const isCancelled = payment.cancelledByStore || cancelledElsewhere
  const isTakenBack = payment.takenBack === 'all'
  const { title, description } = endTextOf(payment, outcome, texts)
  const isWarned = SUSPICIOUS[outcome] || payment.endedAtOnce || payment.failedBy === 'phone'
  const isInEscrow = outcome === 'tradeHasInvalidItems' && steamHoldUntil !== null
  return (
    <Dialog className="dialog-outcome">
      {(titleId) => (
        <>
          <OutcomeIcon shape={isCancelled || isTakenBack ? 'cancelled' : outcome} />
          <h2 id={titleId}>{isInEscrow ? texts.heldBySteamTitle : title}</h2>
          <p className="outcome-description">
            {isInEscrow
              ? texts.heldBySteam(formatDate(steamHoldUntil, language))
              : (receivedText ?? description)}{' '}
            {outcome === 'tradeTimeout' && <NextOffer payment={payment} />}
          </p>
          {outcomeUnknown && <SteamLink to="offers" look="link" />}
          {(isInEscrow || payment.steamHoldOver) && (
            <p>
              {texts.holdReason} <SteamLink to="guard" look="link" />
            </p>
          )}
          {outcome === 'succeeded' && !isTakenBack && <Received payment={payment} />}
          {payment.redirectUrl !== undefined && needsReading(payment) && (
            <p className="quiet">{texts.redirectSoon}</p>
          )}
          {/* First, because most shoppers ended the offer themselves, even one that ended within seconds. */}
          {isWarned && !cancelledElsewhere && (
            <p>
              {texts.declinedByYou} <NextOffer payment={payment} />
            </p>
          )}
          {isWarned && <ScamSteps payment={payment} isCountered={outcome === 'tradeCountered'} />}
          {hasAlarm && <Alarm />}
          <Numbers payment={payment} />
          <StoreLink
            url={payment.backToStoreUrl}
            isPrimary
            {...(payment.endedAtOnce && { name: texts.startAgain })}
          />
          <ReceiptLink payment={payment} />
        </>
      )}
    </Dialog>
  )
}

function endTextOf(payment: Payment, outcome: DrawnOutcome, texts: ModalTexts): ErrorText {
  if (payment.outcomeUnknown) return texts.outcomeUnknown
  if (payment.takenBack === 'all') return texts.takenBack
  if (payment.steamHoldOver) return { title: texts.heldBySteamTitle, description: texts.steamHoldOver }
  if (payment.cancelledByStore) return texts.cancelledByStore
  if (payment.failedBy) return payment.failedBy === 'phone' ? texts.cancelledOnPhone : texts.failedOnSteam
  return payment.cancelledElsewhere ? texts.cancelledElsewhere : texts.outcomes[outcome]
}

/** The numbers that support asks for. */
function Numbers({ payment: { id, steamTradeId } }: { payment: Payment }) {
  const { texts } = useModalTexts()
  const numbers = [texts.paymentNumber(id), steamTradeId === null ? null : texts.offerNumber(steamTradeId)]
  return <p className="quiet">{numbers.filter((number) => number !== null).join(' · ')}</p>
}

/** Says when the next offer can be sent. Empty if it can be sent now. */
function NextOffer({ payment: { nextOfferAt } }: { payment: Payment }) {
  const { texts, language } = useModalTexts()
  return nextOfferAt === undefined ? null : texts.nextOfferAt(formatTime(nextOfferAt, language))
}

/** Says when the funds arrive, if a part is held or the store has already accepted the webhook; null otherwise. */
function useReceivedText(payment: Payment): string | null {
  const { texts, money, language } = useModalTexts()
  const split = creditOf(payment)
  if (payment.status !== 'succeeded' || payment.takenBack === 'all' || split === null) return null
  const isTold = payment.storeTold === true
  if (split.until === null) return isTold ? texts.knownToStore : null
  const date = formatDate(split.until, language)
  if (split.now === 0) return texts.receivedForLater(date)
  return (isTold ? texts.knownToStoreInParts : texts.receivedInParts)(
    money(split.now, payment.currency),
    date,
  )
}

export function ReceiptLink({ payment: { receiptUrl } }: { payment: Payment }) {
  const { texts, language } = useModalTexts()
  if (receiptUrl === undefined) return null
  return (
    <a className="link" href={`${receiptUrl}?lang=${language}`} target="_blank" rel="noopener">
      {texts.receipt}
    </a>
  )
}

function Received({ payment }: { payment: Payment }) {
  const { texts } = useModalTexts()
  const lossNote = payment.takenBack === 'some' && <p className="quiet">{texts.someTakenBack}</p>
  if (payment.amount === null) return lossNote
  return (
    <div className="received">
      <span>{texts.youReceive}</span>
      <strong>
        <Amount minor={payment.amount} currency={payment.currency} />
      </strong>
      {lossNote}
      <PaymentMoney payment={payment} />
    </div>
  )
}

const API_KEY_URL = 'https://steamcommunity.com/dev/apikey'

function ScamSteps({ payment, isCountered }: { payment: Payment; isCountered: boolean }) {
  const { texts } = useModalTexts()
  // The offer ended faster than a person can read, so a program with access to the account may have ended it.
  const { endedAtOnce } = payment
  // Only the sender can cancel an offer, so the shopper's account cannot have cancelled this one.
  const hastyTitle = payment.cancelledElsewhere ? texts.checkAccountTitle : texts.stolenKeyTitle
  const scamSteps = isCountered ? [texts.counteredStep, ...texts.scamSteps.slice(1)] : texts.scamSteps
  const steps = endedAtOnce ? texts.stolenKeySteps : scamSteps
  return (
    <div className="scam-steps">
      <h3>{endedAtOnce ? hastyTitle : texts.scamTitle}</h3>
      {endedAtOnce && <p>{texts.stolenKeyText}</p>}
      <ol>
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p>{texts.apiKeyIs}</p>
      <OutsideLink href={API_KEY_URL} look="link" text={texts.scamApiKey} />
    </div>
  )
}

/** Sounds until a moment after the pointer first moves, or until the button is pressed. */
function Alarm() {
  const { texts } = useModalTexts()
  const [stop, setStop] = useState<(() => void) | null>(null)
  useEffect(() => {
    const silence = startAlarm(() => setStop(null))
    setStop(() => silence)
    return silence
  }, [])
  if (stop === null) return null
  return (
    <button type="button" className="button small" onClick={stop}>
      <SoundOffIcon /> {texts.stopSound}
    </button>
  )
}
