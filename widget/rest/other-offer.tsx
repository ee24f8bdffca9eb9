/** The still open offer of an earlier payment, shown after the shopper has begun another payment. */
import { isEmbedded } from '../embed.ts'
import type { FlowState } from '../flow/state.ts'
import { useRestTexts } from '../parts/texts.ts'
import { TimeLeft } from './time-left.tsx'

export function OtherOffer({ state }: { state: FlowState }) {
  const { texts } = useRestTexts()
  const otherDeposit = state.payment?.status === 'created' ? state.otherOffer?.deposit : null
  if (!otherDeposit || state.modal.kind !== 'none') return null
  return (
    <p className="notice notice-offer">
      <span>
        {texts.otherOffer(otherDeposit.id)}
        <span className="quiet">
          <TimeLeft deadlineMs={state.otherOffer?.deadlineMs ?? null} />
        </span>
      </span>{' '}
      {/* A frame shows one deposit only. */}
      <a
        className="link"
        href={`/deposit/${otherDeposit.hash}`}
        {...(isEmbedded() && { target: '_blank', rel: 'noopener' })}
      >
        {texts.otherOfferOpen}
      </a>
    </p>
  )
}
