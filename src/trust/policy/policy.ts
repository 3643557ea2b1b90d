/** Policy and taint: may this call run? Pure: the same policy, call and context give the same decision. */
export { DEFAULT_POLICY } from '../../config/trust.ts';
export {
  type DecisionContext,
  type Decided,
  isRememberable,
  type PolicyCall,
  type Remembered,
  type Taint,
} from './call.ts';
export { decide } from './decide.ts';
export { labelsOf, type LabelSource, labelSources, suggestLabels } from './labels.ts';
export { newTaint } from './taint.ts';
