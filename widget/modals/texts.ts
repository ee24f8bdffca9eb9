import { modalTexts } from '../i18n/modals.ts'
import { usePage } from '../page.tsx'
import { withTexts } from '../part-texts.ts'

const pageModal = withTexts(modalTexts)

export const useModal = () => pageModal(usePage())
