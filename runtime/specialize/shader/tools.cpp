/* SPDX-License-Identifier: MIT */
/* SPIRV-Tools: its C++ exceptions end here. */
#include <new>
#include <cstring>

#include <spirv-tools/libspirv.h>

extern "C" {
#include "specialize/shader/shader.h"
#include "specialize/shader/tools.h"
}

namespace {

struct Walk {
    bf_tools_visit visit;
    void *context;
    uint16_t ids[UINT16_MAX];
};

struct Context {
    spv_context value;
    explicit Context(spv_target_env environment) : value(spvContextCreate(environment))
    {
    }
    ~Context()
    {
        spvContextDestroy(value);
    }
};

struct Diagnostic {
    spv_diagnostic value = nullptr;
    ~Diagnostic()
    {
        spvDiagnosticDestroy(value);
    }
};

struct Options {
    spv_validator_options value = spvValidatorOptionsCreate();
    ~Options()
    {
        spvValidatorOptionsDestroy(value);
    }
};

spv_result_t visit_one(void *context, const spv_parsed_instruction_t *in)
{
    Walk *walk = static_cast<Walk *>(context);
    uint32_t id_count = 0;
    for (uint16_t i = 0; i < in->num_operands; i++) {
        switch (in->operands[i].type) {
        case SPV_OPERAND_TYPE_ID:
        case SPV_OPERAND_TYPE_TYPE_ID:
        case SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID:
        case SPV_OPERAND_TYPE_SCOPE_ID:
            walk->ids[id_count++] = in->operands[i].offset;
            break;
        default:
            break;
        }
    }
    return walk->visit(walk->context, in->opcode, in->num_words, in->type_id, in->result_id,
                       walk->ids, id_count)
               ? SPV_SUCCESS
               : SPV_REQUESTED_TERMINATION;
}

spv_target_env environment_of(uint32_t version, uint32_t spirv)
{
    if (version >= VK_API_VERSION_1_3)
        return SPV_ENV_VULKAN_1_3;
    if (version >= VK_API_VERSION_1_2)
        return SPV_ENV_VULKAN_1_2;
    if (version >= VK_API_VERSION_1_1)
        return spirv >= 0x10400 ? SPV_ENV_VULKAN_1_1_SPIRV_1_4 : SPV_ENV_VULKAN_1_1;
    return SPV_ENV_VULKAN_1_0;
}

} // namespace

/* VK_ERROR_INVALID_SHADER_NV: not SPIR-V, or the visitor has had enough. */
VkResult bf_tools_parse(const uint32_t *words, size_t count, bf_tools_visit visit, void *context)
{
    try {
        Walk *walk = new Walk;
        walk->visit = visit;
        walk->context = context;
        spv_result_t result;
        try {
            Context tools(SPV_ENV_UNIVERSAL_1_6);
            Diagnostic diagnostic;
            result = spvBinaryParse(tools.value, walk, words, count, nullptr, visit_one,
                                    &diagnostic.value);
        } catch (...) {
            delete walk;
            throw;
        }
        delete walk;
        if (result == SPV_ERROR_OUT_OF_MEMORY)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        return result == SPV_SUCCESS ? VK_SUCCESS : VK_ERROR_INVALID_SHADER_NV;
    } catch (const std::bad_alloc &) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    } catch (...) {
        return VK_ERROR_INVALID_SHADER_NV;
    }
}

VkResult bf_shader_validate(const uint32_t *words, size_t count, uint32_t vulkan_api_version,
                            char *why, size_t why_size)
{
    if (why_size)
        why[0] = '\0';
    const char *text = "SPIRV-Tools says no more";
    VkResult outcome;
    try {
        Context tools(environment_of(vulkan_api_version, count > 1 ? words[1] : 0));
        Diagnostic diagnostic;
        Options options;
        spvValidatorOptionsSetFriendlyNames(options.value, false);
        spvValidatorOptionsSetScalarBlockLayout(options.value, true);
        spvValidatorOptionsSetWorkgroupScalarBlockLayout(options.value, true);
        spvValidatorOptionsSetAllowLocalSizeId(options.value, true);
        spv_const_binary_t binary = {words, count};
        spv_result_t result =
            spvValidateWithOptions(tools.value, options.value, &binary, &diagnostic.value);
        if (result == SPV_SUCCESS)
            return VK_SUCCESS;
        outcome = result == SPV_ERROR_OUT_OF_MEMORY ? VK_ERROR_OUT_OF_HOST_MEMORY
                                                    : VK_ERROR_INVALID_SHADER_NV;
        if (diagnostic.value && diagnostic.value->error)
            text = diagnostic.value->error;
        if (why_size) {
            std::strncpy(why, text, why_size - 1);
            why[why_size - 1] = '\0';
        }
        return outcome;
    } catch (const std::bad_alloc &) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    } catch (...) {
        if (why_size) {
            std::strncpy(why, text, why_size - 1);
            why[why_size - 1] = '\0';
        }
        return VK_ERROR_INVALID_SHADER_NV;
    }
}
