/** An offer of an earlier payment that is still open, because the shopper has begun another payment since. */
import { isEmbedded } from '../embed.ts'
import type { FlowState } from '../flow/state.ts'
import { useRest } from '../parts/texts.ts'

/** Leads to that offer. */
export function OtherOffer({ state }: { state: FlowState }) {
  const { texts } = useRest()
  const other = state.payment?.status === 'created' ? state.otherOffer?.deposit : null
  if (!other || state.modal.kind !== 'none') return null
  return (
    <p className="notice notice-offer">
      {texts.otherOffer(other.id)} {/* A frame shows one deposit only. */}
      <a
        className="link"
        href={`/deposit/${other.hash}`}
        {...(isEmbedded() && { target: '_blank', rel: 'noopener' })}
      >
        {texts.otherOfferOpen}
      </a>
    </p>
  )
}
